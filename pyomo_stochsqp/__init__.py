from .declare import E, RandomParam, RandomSource
