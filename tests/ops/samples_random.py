"""Samples of random numbers."""

from __future__ import annotations

from .samples import Arguments, Entry, Maker, samples


@samples("randint")
def randint(make: Maker, entry: Entry) -> list[Arguments]:
    low = {"low": -2} if entry["name"].endswith("low") else {}
    where = {"self": make.tensor(2, 3)} if "like" in entry["name"] else {"size": [2, 3]}
    return [{**where, **low, "high": 5}]


@samples("randperm")
def randperm(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"n": 5}, {"n": 0}]


@samples("normal")
def normal(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"mean": 1.0, "std": 2.0, "size": [2, 3]}]


@samples("normal_around")
def normal_around(make: Maker, entry: Entry) -> list[Arguments]:
    mean, std = make.real(2, 3), make.real(3, low=0.5, high=1)
    return [{"mean": mean, "std": std}, {"mean": mean}, {"mean": 1.0, "std": std}]


@samples("probabilities")
def probabilities(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.real(2, 3, low=0, high=1)}, {"self": make.real(low=0, high=1)}]


@samples("one_probability")
def one_probability(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.real(2, 3), "p": 0.25}]


@samples("two_probabilities")
def two_probabilities(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.real(2, 3), "p": make.real(3, low=0, high=1)}]


@samples("multinomial")
def multinomial(make: Maker, entry: Entry) -> list[Arguments]:
    rows = make.real(2, 3, low=0.5, high=1)
    return [{"self": rows, "num_samples": 2}, {"self": rows[0], "num_samples": 4, "replacement": True}]


@samples("random_to")
def random_to(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.real(2, 3), "to": 5}]


@samples("random_from")
def random_from(make: Maker, entry: Entry) -> list[Arguments]:
    return [{"self": make.real(2, 3), "from": -2, "to": 5}]
