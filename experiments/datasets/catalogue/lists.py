"""Ranked lists with grades, and multi-label sets (one ranking task for each label)."""

from experiments.datasets.catalogue.entry import NOT_VERIFIED, Entry, Part
from experiments.datasets.readers import Libsvm, MultilabelArff

__all__ = ["MULTILABEL", "RANKED_LISTS"]

_MICROSOFT = "released by Microsoft Research for research use; " + NOT_VERIFIED
_ROTATION = (
    "Five parts S1 to S5; fold 1 trains on S1, S2, S3, validates on S4 and tests on S5, and each "
    "further fold moves one part on, as LETOR has it."
)

RANKED_LISTS = (
    Entry(
        name="mq2008",
        title="MQ2008 (LETOR 4.0, supervised ranking)",
        about="Queries of the TREC 2008 million query track with judged web pages. " + _ROTATION,
        folder="MQ2008",
        source='LETOR 4.0 (Microsoft Research), "MQ2008"',
        licence=_MICROSOFT,
        features=46,
        positive="a relevant page: y is its grade, 0, 1 or 2",
        caution="Features 6 to 10 and 43 are constant.",
        parts=tuple(
            Part(name=f"S{i}", files=((f"S{i}.txt", f"Fold{i % 5 + 1}/test.txt"),), rows=rows)
            for i, rows in enumerate((2933, 3635, 3062, 2707, 2874), start=1)
        ),
        reader=Libsvm(46, lists=True),
    ),
    Entry(
        name="ohsumed",
        title="OHSUMED (LETOR, QueryLevelNorm)",
        about="Medical questions with judged abstracts of MEDLINE; features scaled to [0, 1] "
        "within each query. " + _ROTATION + " The parts are the test files of the five folds.",
        folder="OHSUMED",
        source='LETOR (Microsoft Research), "OHSUMED", QueryLevelNorm, test.txt of Fold1 to Fold5',
        licence=_MICROSOFT,
        features=45,
        positive="a relevant abstract: y is its grade, 0, 1 or 2",
        parts=tuple(
            Part(
                name=f"S{i}",
                files=((f"Fold{i % 5 + 1}/test.txt", f"Fold{i % 5 + 1}.test.txt"),),
                rows=rows,
            )
            for i, rows in enumerate((2570, 3076, 3573, 3538, 3383), start=1)
        ),
        reader=Libsvm(45, lists=True),
    ),
    Entry(
        name="mslr_sample",
        title="MSLR-WEB10K, an excerpt",
        about="Queries of a web search engine with judged pages: 5,000 rows of the training "
        "file and 5,000 of the test file of fold 1.",
        folder="MSLR-WEB10K_sample",
        source="the test data of the rankeval package; in full: Microsoft Research, MSLR-WEB10K",
        licence=_MICROSOFT,
        features=136,
        positive="a relevant page: y is its grade, 0 to 4",
        caution="An excerpt of 86 of 10,000 queries, and the last query of each file may be cut: "
        "for examples and tests, not for results.",
        parts=tuple(
            Part(name=name, files=((f"msn1.fold1.{name}.5k.txt",),), rows=5000)
            for name in ("train", "test")
        ),
        reader=Libsvm(136, lists=True),
    ),
)


def _mulan(
    name: str,
    about: str,
    rows: tuple[int, int],
    features: int,
    labels: int,
) -> Entry:
    return Entry(
        name=f"mulan_{name}",
        title=f"{name} (Mulan)",
        about=about,
        folder=f"ml_{name}",
        source=f'Mulan, multi-label data sets, "{name}"',
        features=features,
        labels=labels,
        positive="the label applies to the row",
        parts=tuple(
            Part(
                name=part,
                files=((f"{name}-{part}.arff",), (f"{name}.xml",)),
                rows=n_rows,
            )
            for part, n_rows in zip(("train", "test"), rows, strict=True)
        ),
        reader=MultilabelArff(labels),
    )


MULTILABEL = (
    _mulan("yeast", "Functions of yeast genes.", (1500, 917), 103, 14),
    _mulan("scene", "What a photograph shows.", (1211, 1196), 294, 6),
    _mulan("emotions", "Moods of a piece of music.", (391, 202), 72, 6),
    _mulan("enron", "Subjects of e-mails of a company.", (1123, 579), 1001, 53),
    _mulan("bibtex", "Tags of entries in BibSonomy.", (4880, 2515), 1836, 159),
    _mulan("delicious", "Tags of web pages.", (12920, 3185), 500, 983),
    _mulan("medical", "Diagnosis codes of radiology reports.", (333, 645), 1449, 45),
    _mulan("tmc2007-500", "Problems in flight reports.", (21519, 7077), 500, 22),
    Entry(
        name="mulan_mediamill_small",
        title="mediamill, a subset",
        about="Concepts in frames of news videos.",
        folder="ml_mediamill_small",
        source='a subset of "mediamill" of Mulan, multi-label data sets; Mulan offers the full set',
        features=120,
        labels=101,
        positive="the label applies to the row",
        caution="Somebody's 2,500 rows of the 43,907 of mediamill; how they were drawn is not "
        "documented. For examples and tests, not for results.",
        parts=(Part(files=(("mediamill_small.arff",),), rows=2500),),
        reader=MultilabelArff(101),
    ),
)
