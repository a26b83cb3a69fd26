"""What Rudin (2009) prints in Tables 1 to 5, digit for digit."""

from typing import NamedTuple

POWERS = (1, 2, 4, 8, 16, 64)
COLUMNS = (*(f"p = {p}" for p in POWERS), "IR")

# order of the labels: R_{4,1}, R_{4,exp}, R_{4,logistic}
TABLE_1 = {
    "original": ("33", "17160.17", "430.79"),
    "swap on the bottom": ("34", "72289.39", "670.20"),
    "swap on the top": ("98", "130515.09", "1212.23"),
}

# p: R(f1) and R(f2) with the 0-1, the exponential and the logistic loss
TABLE_2 = {
    1: ("25", "24", "50.25", "49.80", "34.34", "34.09"),
    2: ("125", "118", "367.39", "362.35", "170.18", "167.90"),
    3: ("625", "726", "2.73e3", "2.70e3", "851.09", "836.46"),
    4: ("3.13e3", "4.88e3", "2.056e4", "2.057e4", "4.29e3", "4.22e3"),
    5: ("1.56e4", "3.38e4", "1.56e5", "1.60e5", "2.18e4", "2.15e4"),
    6: ("7.81e4", "23.56e4", "1.20e6", "1.28e6", "1.114e5", "1.110e5"),
    7: ("3.91e5", "16.48e5", "9.34e6", "10.36e6", "5.72e5", "5.79e5"),
    8: ("1.95e6", "11.53e6", "7.29e7", "8.53e7", "2.96e6", "3.05e6"),
    9: ("9.77e6", "80.71e6", "5.72e8", "7.13e8", "1.53e7", "1.63e7"),
    10: ("4.88e7", "56.50e7", "4.50e9", "6.02e9", "7.98e7", "8.74e7"),
}
# from this p on the paper prefers f1, which is better at the top
PREFERS_F1_FROM = {"0-1": 3, "exponential": 4, "logistic": 7}

SMALL, LARGE = (0, 1), (4, 5, 6)  # places among COLUMNS


class Row(NamedTuple):
    """One row of Tables 3 to 5: the measure, its left-out power of ten, who was best."""

    measure: str
    exponent: int
    values: tuple[float, ...]
    best: str
    best_columns: tuple[int, ...]
    larger_is_better: bool = False


TABLE_3 = (
    Row("AUC", 0, (0.8370, 0.8402, 0.8397, 0.8363, 0.8329, 0.8288, 0.8284), "small p", SMALL, True),
    Row("R2", 10, (6.5515, 5.9731, 5.5896, 5.4806, 5.4990, 5.5819, 5.5886), "medium p", (2, 3, 4)),
    Row("R4", 18, (4.2134, 3.4875, 2.8875, 2.5638, 2.4291, 2.3651, 2.3582), "IR / large p", LARGE),
    Row("R8", 34, (3.8830, 2.9138, 2.1091, 1.6266, 1.3923, 1.2396, 1.2257), "IR / large p", LARGE),
    Row("R16", 66, (6.8153, 4.7208, 3.0545, 1.9698, 1.4494, 1.1096, 1.0823), "IR / large p", LARGE),
    Row("DCG", 3, (1.4022, 1.4048, 1.4066, 1.4084, 1.4087, 1.4087, 1.4087), "IR / large p", LARGE,
        True),
    Row("AveR", 0, (8.1039, 8.5172, 8.6860, 9.6701, 9.7520, 9.7679, 9.7688), "IR / large p", LARGE,
        True),
)  # fmt: skip

TABLE_4 = (
    Row("AUC", 0, (0.6797, 0.6732, 0.6700, 0.6612, 0.6479, 0.6341, 0.6409), "small p", SMALL, True),
    Row("R2", 4, (2.1945, 2.1931, 2.1515, 2.1213, 2.1575, 2.1974, 2.1811), "med/lg p",
        (2, 3, 4, 5, 6)),
    Row("R4", 7, (2.0841, 1.9891, 1.8041, 1.5911, 1.4327, 1.3104, 1.4046), "IR / large p", LARGE),
    Row("R8", 13, (3.7099, 3.3459, 2.6271, 1.8950, 1.3861, 1.0823, 1.2979), "IR / large p", LARGE),
    Row("R16", 26, (1.7294, 1.4558, 0.8786, 0.4236, 0.2437, 0.1884, 0.2272), "IR / large p", LARGE),
    Row("DCG", 0, (13.9197, 14.1308, 14.3261, 14.5902, 14.6916, 14.7903, 14.7169), "IR / large p",
        LARGE, True),
    Row("AveR", 0, (2.9712, 3.1610, 3.3041, 3.5084, 3.5849, 3.6571, 3.6076), "IR / large p", LARGE,
        True),
)  # fmt: skip

TABLE_5 = (
    Row("AUC", 0, (0.7739, 0.7633, 0.7532, 0.7500, 0.7420, 0.7330, 0.7373), "small p", SMALL, True),
    Row("R2", 0, (3222, 3406, 3665, 3799, 3818, 3759, 3847), "small p", SMALL),
    Row("R4", 0, (294078, 292870, 304457, 307135, 305498, 298611, 304915), "small/med p",
        (0, 1, 2, 3)),
    Row("R8", 9, (3.9056, 3.5246, 3.3908, 3.2953, 3.2479, 3.3173, 3.2346), "IR / large p", LARGE),
    Row("R16", 18, (1.1762, 0.9694, 0.8337, 0.8028, 0.7801, 0.8816, 0.7788), "IR / large p", LARGE),
    Row("DCG", 0, (3.6095, 3.6476, 3.6757, 3.6858, 3.6977, 3.6671, 3.6931), "IR / large p", LARGE,
        True),
    Row("AveR", 0, (0.5241, 0.5644, 0.6022, 0.6124, 0.6258, 0.6012, 0.6250), "IR / large p", LARGE,
        True),
)  # fmt: skip
