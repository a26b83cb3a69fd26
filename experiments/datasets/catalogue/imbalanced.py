"""Sets with few positives, where one acts on the top of the list."""

from experiments.datasets.catalogue.entry import NOT_VERIFIED, Entry, Part
from experiments.datasets.readers import Arff, Challenge, Delimited, Npz, numeric

__all__ = ["IMBALANCED"]

_CHALLENGE = "performance prediction challenge of WCCI 2006, reused in later ones (Guyon et al.)"
_CHALLENGE_LICENCE = "the terms of the challenge; " + NOT_VERIFIED
_DIGITS: dict[int | str, str] = {digit: f"the digit {digit}" for digit in range(10)}

IMBALANCED = (
    Entry(
        name="spambase",
        title="Spambase",
        about="E-mails described by the frequencies of 48 words and 6 characters and by three "
        "numbers about runs of capitals.",
        folder="spambase",
        source='OpenML, "spambase" (ARFF); UCI Machine Learning Repository, "Spambase"',
        features=57,
        positive="spam (class 1)",
        positives=(1,),
        caution="The words george and 650 mark the owner of the mailbox: the ham is one person's.",
        parts=(Part(files=(("spambase.arff",),), rows=4601, positives=1813),),
        reader=Arff("class"),
    ),
    Entry(
        name="bank_marketing",
        title="Bank marketing",
        about="Telephone calls of a Portuguese bank: did the customer subscribe a term deposit?",
        folder="bank-marketing",
        source='OpenML, "bank-marketing" (ARFF); UCI Machine Learning Repository, "Bank Marketing"',
        columns=16,
        features=51,
        positive="the customer subscribed (class 2)",
        positives=(2,),
        caution="V12 is the duration of the call, known only when its outcome is: drop it from "
        "any model meant to choose whom to call.",
        parts=(Part(files=(("bank-marketing.arff",),), rows=45211, positives=5289),),
        reader=Arff("Class"),
    ),
    Entry(
        name="ann_thyroid",
        title="Thyroid disease for neural networks (ann-thyroid)",
        about="Patients of a thyroid clinic, 15 binary and 6 continuous columns, already scaled.",
        folder="ann-thyroid",
        source='UCI Machine Learning Repository, "Thyroid Disease", files ann-train.data and '
        "ann-test.data",
        features=21,
        positive="thyroid function not normal (class 1 or 2)",
        positives=(1, 2),
        parts=(
            Part(name="train", files=(("ann-train.data",),), rows=3772, positives=284),
            Part(name="test", files=(("ann-test.data",),), rows=3428, positives=250),
        ),
        reader=Delimited(
            numeric(f"x{i}" for i in range(1, 22)),
            label="class",
            classes=("1", "2", "3"),
            blank_separated=True,
        ),
    ),
    Entry(
        name="sick",
        title="Thyroid disease, sick",
        about="Patients of a thyroid clinic: 22 categorical columns in one-hot form, 7 numeric.",
        folder="sick",
        source='OpenML, "sick" (ARFF); UCI Machine Learning Repository, "Thyroid Disease"',
        columns=29,
        features=53,
        positive="sick",
        positives=("sick",),
        caution="Laboratory values that were not measured are NaN (TBG always): impute or drop "
        "them. A missing sex is 0 in both of its columns.",
        parts=(Part(files=(("sick.arff",),), rows=3772, positives=231),),
        reader=Arff("Class"),
    ),
    Entry(
        name="abalone",
        title="Abalone",
        about="Shells of abalones: sex in one-hot form and seven measures; the class is the "
        "number of rings, which grows with age.",
        folder="abalone",
        source='OpenML, "abalone" (ARFF); UCI Machine Learning Repository, "Abalone"',
        columns=8,
        features=10,
        positive="19 rings",
        positives=(19,),
        choices={rings: f"{rings} rings" for rings in range(1, 30)},
        caution="19 rings (32 rows) is the choice of imbalanced-learn (abalone_19): hardly "
        "learnable, since 18 and 20 rings look the same.",
        parts=(Part(files=(("abalone.arff",),), rows=4177, positives=32),),
        reader=Arff("Class_number_of_rings"),
    ),
    Entry(
        name="pendigits",
        title="Pen-based digits",
        about="Digits written on a tablet, eight points of the pen's path.",
        folder="pendigits",
        source='OpenML, "pendigits" (ARFF); UCI Machine Learning Repository, "Pen-Based '
        'Recognition of Handwritten Digits"',
        features=16,
        positive="the digit 5",
        positives=(5,),
        choices=_DIGITS,
        caution="The default is the choice of imbalanced-learn (pen_digits). UCI's split into "
        "training and test writers is not in OpenML's file.",
        parts=(Part(files=(("pendigits.arff",),), rows=10992, positives=1055),),
        reader=Arff("class"),
    ),
    Entry(
        name="optdigits",
        title="Optical digits",
        about="Scanned handwritten digits, 8 by 8 counts of ink.",
        folder="optdigits",
        source='OpenML, "optdigits" (ARFF); UCI Machine Learning Repository, "Optical '
        'Recognition of Handwritten Digits"',
        features=64,
        positive="the digit 8",
        positives=(8,),
        choices=_DIGITS,
        caution="The default is the choice of imbalanced-learn (optical_digits). Columns 1 and 40 "
        "are constant.",
        parts=(Part(files=(("optdigits.arff",),), rows=5620, positives=554),),
        reader=Arff("class"),
    ),
    Entry(
        name="page_blocks",
        title="Page blocks",
        about="Blocks of scanned pages: text (the bulk) against lines, pictures and graphics.",
        folder="page-blocks",
        source='OpenML, "page-blocks" (ARFF); UCI Machine Learning Repository, "Page Blocks '
        'Classification"',
        features=10,
        positive="not text (class 2, 3, 4 or 5)",
        positives=(2, 3, 4, 5),
        parts=(Part(files=(("page-blocks.arff",),), rows=5473, positives=560),),
        reader=Arff("class"),
    ),
    Entry(
        name="hiva",
        title="HIVA, virtual screening",
        about="Compounds tested against HIV, described by binary properties of the molecule.",
        folder="hiva",
        source=_CHALLENGE,
        licence=_CHALLENGE_LICENCE,
        features=1617,
        positive="active against HIV (+1)",
        positives=(1,),
        caution="The challenge's training part; the validation part is not read.",
        parts=(
            Part(files=(("hiva_train.data",), ("hiva_train.labels",)), rows=3845, positives=135),
        ),
        reader=Challenge(1617),
    ),
    Entry(
        name="sylva",
        title="SYLVA, forest ecology",
        about="Forest patches (from the cover type data, with features added as distractors).",
        folder="sylva",
        source=_CHALLENGE,
        licence=_CHALLENGE_LICENCE,
        features=216,
        positive="ponderosa pine (+1)",
        positives=(1,),
        caution="The challenge's training part. Columns 15, 93, 116 and 209 are constant.",
        parts=(
            Part(files=(("sylva_train.data",), ("sylva_train.labels",)), rows=13086, positives=805),
        ),
        reader=Challenge(216),
    ),
    Entry(
        name="ada",
        title="ADA, marketing",
        about="High incomes in census data, the columns recoded and made anonymous.",
        folder="ada",
        source=_CHALLENGE,
        licence=_CHALLENGE_LICENCE,
        features=48,
        positive="high income (+1)",
        positives=(1,),
        caution="The challenge's training part; made from the data of adult.",
        parts=(
            Part(files=(("ada_train.data",), ("ada_train.labels",)), rows=4147, positives=1029),
        ),
        reader=Challenge(48),
    ),
    Entry(
        name="donors",
        title="Donors",
        about="Projects that ask for donations, the exceptionally exciting ones against the rest, "
        "as prepared for the ADBench comparison of anomaly detectors.",
        folder="adbench_donors",
        source="ADBench, classical data sets, 11_donors.npz",
        licence="ADBench is BSD-2-Clause; the terms of the data below it were not verified",
        features=10,
        positive="exceptionally exciting project (the anomaly, class 1)",
        positives=(1,),
        caution="ADBench's processed arrays, not an original file.",
        parts=(Part(files=(("11_donors.npz",),), rows=619326, positives=36710),),
        reader=Npz(10),
    ),
)
