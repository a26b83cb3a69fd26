"""Larger tables, those on which the precision-at-the-top paper times its methods."""

from experiments.datasets.catalogue.entry import Entry, Part
from experiments.datasets.readers import Arff, Columns, Delimited, Libsvm, numeric, words

__all__ = ["LARGE"]

_PAPER = "precision at the top (Kar, Narasimhan, Jain 2015)"

_ADULT_COLUMNS: Columns = {
    "age": None,
    "workclass": words(
        "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov "
        "State-gov Without-pay Never-worked"
    ),
    "fnlwgt": None,
    "education": words(
        "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th "
        "Masters 1st-4th 10th Doctorate 5th-6th Preschool"
    ),
    "education-num": None,
    "marital-status": words(
        "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent "
        "Married-AF-spouse"
    ),
    "occupation": words(
        "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty "
        "Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing Transport-moving "
        "Priv-house-serv Protective-serv Armed-Forces"
    ),
    "relationship": (
        "Wife",
        "Own-child",
        "Husband",
        "Not-in-family",
        "Other-relative",
        "Unmarried",
    ),
    "race": ("White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"),
    "sex": ("Female", "Male"),
    "capital-gain": None,
    "capital-loss": None,
    "hours-per-week": None,
    "native-country": words(
        "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) "
        "India Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica "
        "Vietnam Mexico Portugal Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti "
        "Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador "
        "Trinadad&Tobago Peru Hong Holand-Netherlands"
    ),
}

_COVTYPE_COLUMNS = {
    **numeric(
        words(
            "Elevation Aspect Slope Horizontal_Distance_To_Hydrology "
            "Vertical_Distance_To_Hydrology Horizontal_Distance_To_Roadways "
            "Hillshade_9am Hillshade_Noon Hillshade_3pm Horizontal_Distance_To_Fire_Points"
        )
    ),
    **numeric(f"Wilderness_Area{i}" for i in range(1, 5)),
    **numeric(f"Soil_Type{i}" for i in range(1, 41)),
}

_INCOME_CAUTION = (
    "Race, sex and native country are among the features: a ranking learned here must not "
    "decide about people."
)

LARGE = (
    Entry(
        name="letter",
        title="Letter recognition",
        about="Distorted images of the 26 capital letters in 20 fonts, each described by 16 "
        "integers.",
        folder="letter",
        source='OpenML, "letter" (ARFF); UCI Machine Learning Repository, "Letter Recognition"',
        paper=_PAPER,
        features=16,
        positive="the letter Z",
        positives=("Z",),
        choices={letter: f"the letter {letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"},
        caution="The paper does not say which letter is its positive class; Z is the choice of "
        "imbalanced-learn (letter_img).",
        parts=(Part(files=(("letter.arff",),), rows=20000, positives=734),),
        reader=Arff("class"),
    ),
    Entry(
        name="a9a",
        title="Adult, binary features (a9a)",
        about="Whether a person in the 1994 census earns more than 50,000 dollars; the columns "
        "of adult cut into 123 binary ones. X is sparse.",
        folder="a9a",
        source='LIBSVM data sets, "a9a"',
        paper=_PAPER,
        features=123,
        positive="income above 50,000 dollars a year (+1)",
        positives=(1,),
        caution=_INCOME_CAUTION,
        parts=(
            Part(name="train", files=(("a9a",),), rows=32561, positives=7841),
            Part(name="test", files=(("a9a.t",),), rows=16281, positives=3846),
        ),
        reader=Libsvm(123, sparse=True),
    ),
    Entry(
        name="adult",
        title="Adult",
        about="Whether a person in the 1994 census earns more than 50,000 dollars: 6 numeric "
        "columns and 8 categorical ones, in one-hot form.",
        folder="adult",
        source='UCI Machine Learning Repository, "Adult"',
        paper=_PAPER,
        columns=14,
        features=105,
        positive="income above 50,000 dollars a year",
        positives=(">50K",),
        caution=_INCOME_CAUTION + " A missing category is 0 in all columns of its block.",
        parts=(
            Part(
                name="train", files=(("adult.data", "adult-train.csv"),), rows=32561, positives=7841
            ),
            Part(
                name="test", files=(("adult.test", "adult-test.csv"),), rows=16281, positives=3846
            ),
        ),
        reader=Delimited(_ADULT_COLUMNS, label="income", classes=(">50K", "<=50K")),
    ),
    Entry(
        name="covtype",
        title="Forest cover type",
        about="Which trees cover a patch of 30 by 30 metres in four wilderness areas of "
        "Colorado: 10 measured numbers, 4 area columns and 40 soil columns of 0 and 1.",
        folder="covtype",
        source='UCI Machine Learning Repository, "Covertype"',
        paper=_PAPER,
        features=54,
        positive="aspen",
        positives=(5,),
        choices={
            1: "spruce or fir",
            2: "lodgepole pine",
            3: "ponderosa pine",
            4: "cottonwood or willow",
            5: "aspen",
            6: "Douglas fir",
            7: "krummholz",
        },
        caution="The paper does not say which class is its positive one. The default, aspen, is "
        "rare (1.63 %) yet has enough rows for every split; LIBSVM's two-class version "
        "(covtype.binary) takes class 2.",
        parts=(Part(files=(("covtype.data", "covtype.csv"),), rows=581012, positives=9493),),
        reader=Delimited(_COVTYPE_COLUMNS, label="Cover_Type", classes=tuple("1234567")),
    ),
    Entry(
        name="cod_rna",
        title="Non-coding RNA (cod-rna)",
        about="Whether two aligned genome sequences hold a common non-coding RNA: a folding "
        "energy, a length and six base frequencies, unscaled.",
        folder="cod-rna",
        source='LIBSVM data sets, "cod-rna"',
        paper=_PAPER,
        features=8,
        positive="+1 in the publisher's file, a non-coding RNA",
        positives=(1,),
        caution="The publisher's third file (cod-rna.r) is not read.",
        parts=(
            Part(name="train", files=(("cod-rna", "cod-rna.txt"),), rows=59535, positives=19845),
            Part(name="test", files=(("cod-rna.t",),), rows=271617, positives=90539),
        ),
        reader=Libsvm(8),
    ),
    Entry(
        name="ijcnn1",
        title="IJCNN 2001 challenge (ijcnn1)",
        about="The first problem of the neural network competition of IJCNN 2001, as transformed "
        "for LIBSVM.",
        folder="ijcnn1",
        source='LIBSVM data sets, "ijcnn1"',
        paper=_PAPER,
        features=22,
        positive="+1 in the publisher's file",
        positives=(1,),
        caution="No reference copy was at hand when this loader was written: the shape is "
        "checked, the values are not. A copy whose first ten columns are all 0 is known to be "
        "in circulation; ten features are lost in it.",
        parts=(
            Part(name="train", files=(("ijcnn1",),), rows=49990),
            Part(name="test", files=(("ijcnn1.t",),), rows=91701),
        ),
        reader=Libsvm(22),
    ),
)
