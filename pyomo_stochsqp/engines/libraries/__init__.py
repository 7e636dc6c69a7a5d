"""NLP libraries behind the engine protocol: a second opinion where the own engines fail.

engine      a library as an engine, one of its iterations per step
stepping    a library's own loop, stopped and continued between two iterations
callbacks   a program in the words of a library
uno         Uno with its preset 'ipopt' (extra ``nlp``)
ipopt       IPOPT through cyipopt, and POUNCE, which has the same interface
catalogue   the libraries by name, and which of them can be used here
"""

from .catalogue import LIBRARIES, installed, library
from .engine import LibraryEngine, LibraryState

__all__ = ["LIBRARIES", "LibraryEngine", "LibraryState", "installed", "library"]
