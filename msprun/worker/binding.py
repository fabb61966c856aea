"""How arguments reach a call: chosen by signature before the first call, never by trying."""

import inspect
from typing import Callable, NamedTuple


class Arguments(NamedTuple):
    """One case's arguments. `names` is None when a provider made them: it says itself what is a keyword."""

    positional: list
    keywords: dict
    names: list = None


class Call(NamedTuple):
    """A call that is ready to be made."""

    function: Callable
    args: tuple
    kwargs: dict

    def __call__(self):
        return self.function(*self.args, **self.kwargs)


def bind(model, arguments):
    """The call of a model: keywords by name, spread, or one tuple, whichever its `forward` can bind first.

    Where none fits or there is no signature, the first form stays: its TypeError is the operator's failure.
    """
    function = model if callable(model) else model.forward
    if arguments.names is None:
        return Call(function, tuple(arguments.positional), arguments.keywords)
    forms = forms_of(arguments)
    args, kwargs = first_that_binds(getattr(model, "forward", model), forms)
    return Call(function, args, kwargs)


def forms_of(arguments):
    """The forms in which described arguments can be handed over, preferred first."""
    names, values = arguments.names, tuple(arguments.positional)
    forms = [(values, {}), ((values,), {})]
    if len(set(names)) == len(names) and all(name.isidentifier() for name in names):
        forms.insert(0, ((), dict(zip(names, values))))
    return forms


def first_that_binds(function, forms):
    """The first form that the signature takes, else the first."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return forms[0]
    for args, kwargs in forms:
        try:
            signature.bind(*args, **kwargs)
        except TypeError:
            continue
        return args, kwargs
    return forms[0]
