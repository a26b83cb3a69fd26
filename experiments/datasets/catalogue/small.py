"""Small tables of the five papers: what each holds and how its file spells it."""

from experiments.datasets.catalogue.entry import Entry, Part
from experiments.datasets.readers import Columns, Delimited, Libsvm, numeric, words

__all__ = ["SMALL"]

_THYROID_FLAGS = words(
    "on_thyroxine query_on_thyroxine on_antithyroid_medication thyroid_surgery query_hypothyroid "
    "query_hyperthyroid pregnant sick tumor lithium goitre"
)
_THYROID_COLUMNS: Columns = {
    "age": None,
    "sex": ("M", "F"),
    **dict.fromkeys(_THYROID_FLAGS, ("f", "t")),
    **{
        name: answers
        for test in ("TSH", "T3", "TT4", "T4U", "FTI", "TBG")
        for name, answers in ((f"{test}_measured", ("y", "n")), (test, None))
    },
}

SMALL = (
    Entry(
        name="magic",
        title="MAGIC gamma telescope",
        about="Simulated showers in a ground-based Cherenkov telescope: gamma rays (signal) "
        "against hadrons (background), told apart by ten numbers that describe the image.",
        folder="magic04",
        source='UCI Machine Learning Repository, "MAGIC Gamma Telescope"',
        paper="P-Norm Push (Rudin 2009), Table 3",
        features=10,
        positive="gamma ray (class g)",
        positives=("g",),
        caution="Gamma rays outnumber hadrons here; in real observations hadrons are the majority.",
        parts=(Part(files=(("magic04.data",),), rows=19020, positives=12332),),
        reader=Delimited(
            numeric(words("fLength fWidth fSize fConc fConc1 fAsym fM3Long fM3Trans fAlpha fDist")),
            label="class",
            classes=("g", "h"),
        ),
    ),
    Entry(
        name="ionosphere",
        title="Ionosphere radar returns",
        about="Returns of a phased array of antennas aimed at free electrons in the ionosphere: "
        "17 pulses, each a complex number.",
        folder="ionosphere",
        source='UCI Machine Learning Repository, "Ionosphere"',
        paper="P-Norm Push (Rudin 2009), Table 4; 1-norm RankSVM (Suehiro et al. 2018)",
        features=34,
        positive="good return, one that shows structure in the ionosphere",
        positives=("good",),
        choices={
            "good": "good return, one that shows structure in the ionosphere",
            "bad": "bad return, whose signal passes through the ionosphere",
        },
        caution="Column x2 is 0 in every row. Table 4 of the P-Norm Push paper only comes out "
        "with the 126 bad returns as positives, although its text says 225.",
        parts=(Part(files=(("ionosphere.data",),), rows=351, positives=225),),
        reader=Delimited(
            numeric(f"x{i}" for i in range(1, 35)),
            label="class",
            classes=("g", "b"),
            called=("good", "bad"),
        ),
    ),
    Entry(
        name="housing",
        title="Boston housing",
        about="Census tracts of Boston in 1970. The label is CHAS, whether the tract bounds the "
        "Charles River; all other columns, the median home value MEDV included, are features.",
        folder="boston_housing",
        source='StatLib and UCI Machine Learning Repository, "Housing"',
        paper="P-Norm Push (Rudin 2009), Table 5",
        features=13,
        positive="the tract bounds the Charles River (CHAS = 1)",
        positives=(1,),
        caution="Column B is a function of the share of Black residents, built on the assumption "
        "that segregation raises home values. scikit-learn removed the set for that reason in "
        "version 1.2. Use it to compare with the paper, not to study housing.",
        parts=(Part(files=(("housing.data",),), rows=506, positives=35),),
        reader=Delimited(
            numeric(words("CRIM ZN INDUS NOX RM AGE DIS RAD TAX PTRATIO B LSTAT MEDV")),
            label="CHAS",
            classes=("0", "1"),
            label_at=3,
            blank_separated=True,
        ),
    ),
    Entry(
        name="hypothyroid",
        title="Hypothyroid",
        about="Patients of a thyroid clinic: age, sex, 11 yes/no items of the record, and 6 "
        "laboratory values each with a flag that says whether it was measured.",
        folder="hypothyroid",
        source='UCI Machine Learning Repository, "Thyroid Disease", file hypothyroid.data',
        paper="1-norm RankSVM (Suehiro et al. 2018)",
        columns=25,
        features=43,
        positive="hypothyroid",
        positives=("hypothyroid",),
        caution="Laboratory values that were not measured, and some ages, are NaN: impute them. "
        "A missing sex is 0 in both of its columns. The 43 columns are 18 categorical ones in "
        "one-hot form and 7 numeric ones, which is the count the paper gives; the paper's own "
        "encoding was not at hand.",
        parts=(Part(files=(("hypothyroid.data",),), rows=3163, positives=151),),
        reader=Delimited(
            _THYROID_COLUMNS, label="class", classes=("hypothyroid", "negative"), label_at=None
        ),
    ),
    Entry(
        name="sick_euthyroid",
        title="Sick-euthyroid",
        about="Patients of a thyroid clinic, the columns those of hypothyroid: low hormone "
        "levels because of another illness.",
        folder="sick-euthyroid",
        source='UCI Machine Learning Repository, "Thyroid Disease", file sick-euthyroid.data',
        columns=25,
        features=43,
        positive="sick-euthyroid",
        positives=("sick-euthyroid",),
        caution="Laboratory values that were not measured, and some ages, are NaN: impute them. "
        "A missing sex is 0 in both of its columns.",
        parts=(Part(files=(("sick-euthyroid.data",),), rows=3163, positives=293),),
        reader=Delimited(
            _THYROID_COLUMNS, label="class", classes=("sick-euthyroid", "negative"), label_at=None
        ),
    ),
    Entry(
        name="australian",
        title="Australian credit approval",
        about="Credit card applications with all names and values made anonymous.",
        folder="australian",
        source='LIBSVM data sets, "australian" (unscaled); UCI "Statlog (Australian Credit '
        'Approval)"',
        paper="1-norm RankSVM (Suehiro et al. 2018)",
        features=14,
        positive="approved (+1)",
        positives=(1,),
        parts=(Part(files=(("australian",),), rows=690, positives=307),),
        reader=Libsvm(14),
    ),
    Entry(
        name="colon_cancer",
        title="Colon cancer",
        about="Expression of 2000 genes in tumour and normal colon tissue, as scaled by LIBSVM.",
        folder="colon-cancer",
        source='LIBSVM data sets, "colon-cancer"',
        paper="1-norm RankSVM (Suehiro et al. 2018)",
        features=2000,
        positive="+1 in the publisher's file, the smaller class",
        positives=(1,),
        parts=(Part(files=(("colon-cancer",),), rows=62, positives=22),),
        reader=Libsvm(2000),
    ),
    Entry(
        name="duke",
        title="Duke breast cancer",
        about="Expression of 7129 genes in breast tumours, as scaled by LIBSVM.",
        folder="duke",
        source='LIBSVM data sets, "duke breast-cancer"',
        paper="1-norm RankSVM (Suehiro et al. 2018)",
        features=7129,
        positive="+1 in the publisher's file",
        positives=(1,),
        parts=(Part(files=(("duke",),), rows=44, positives=23),),
        reader=Libsvm(7129),
    ),
    Entry(
        name="leukemia",
        title="Leukemia",
        about="Expression of 7129 genes in two kinds of acute leukemia, as scaled by LIBSVM.",
        folder="leukemia",
        source='LIBSVM data sets, "leukemia", file leu',
        features=7129,
        positive="+1 in the publisher's file",
        positives=(1,),
        caution="The training part only; the publisher's 34 test rows are not read.",
        parts=(Part(files=(("leu",),), rows=38, positives=27),),
        reader=Libsvm(7129),
    ),
)
