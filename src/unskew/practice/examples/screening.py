"""Real answers of a health survey: who has diabetes? A practice finds it mostly in those who come for other reasons.

Cases are respondents with diabetes. Known are mostly those with high blood pressure who are insured, and hardly ever
those who have not seen a doctor for the cost. A classifier trained on other respondents gives the confidence. The file
is that of `diabetes-2015` (`unskew datasets diabetes-2015`).
"""

import numpy as np

N_CONFIDENCE, N_FIT, N_NEW = 10_000, 6000, 4000
"""Respondents for the classifier, in the table to fit on, and in the newer one."""
LABEL_FREQ = 0.15
"""Share of the cases that is known."""
YES_NO = {
    "HighBP": "high_blood_pressure",
    "HighChol": "high_cholesterol",
    "Smoker": "smoker",
    "Stroke": "stroke",
    "HeartDiseaseorAttack": "heart_disease",
    "PhysActivity": "active",
    "HvyAlcoholConsump": "heavy_drinker",
    "AnyHealthcare": "insured",
    "NoDocbcCost": "no_doctor_for_cost",
    "DiffWalk": "difficulty_walking",
}
NUMBERS = {"BMI": "body_mass_index", "MentHlth": "days_of_poor_mental_health", "PhysHlth": "days_of_poor_health"}
HEALTH = ("excellent", "very good", "good", "fair", "poor")
AGES = ("18 to 24", *(f"{first} to {first + 4}" for first in range(25, 80, 5)), "80 and over")
INCOMES = ("to 10", "10 to 15", "15 to 20", "20 to 25", "25 to 35", "35 to 50", "50 to 75", "over 75")
"""In thousands of dollars a year."""
HEADER = [
    "person",
    *YES_NO.values(),
    *NUMBERS.values(),
    "health",
    "age",
    "income",
    "sex",
    "known",
    "confidence",
    "diabetes",
]


def screening_tables(rng: np.random.RandomState) -> tuple[list[str], list[str], list[str]]:
    """Lines of a table to fit on, of other respondents, and of the answers."""
    from unskew.datasets import survey_2015

    answers = survey_2015()
    positive = answers["Diabetes_binary"] == 1
    order = rng.permutation(len(positive))[: N_CONFIDENCE + N_FIT + N_NEW]
    others, rows = order[:N_CONFIDENCE], order[N_CONFIDENCE:]
    confidence = _confidence(answers, positive, others, rows, rng)
    known = _known(answers, positive, rows, rng)
    lines, found = [], ["person,confidence,diabetes"]
    for number, (row, is_known, sure) in enumerate(zip(rows, known, confidence, strict=True), 1):
        name, true = f"S{number:06d}", int(positive[row])
        label = [str(int(is_known)), f"{sure:.4f}" if is_known else "", str(true)]
        lines.append(",".join([name, *_cells(answers, row), *label]))
        found.append(f"{name},{sure:.4f},{true}")
    header = ",".join(HEADER)
    return [header, *lines[:N_FIT]], [header, *lines[N_FIT:]], found


def _cells(answers: dict[str, np.ndarray], row: int) -> list[str]:
    """Answers of one respondent as a person would write them."""
    return [
        *("yes" if answers[name][row] == 1 else "no" for name in YES_NO),
        *(f"{answers[name][row]:.0f}" for name in NUMBERS),
        HEALTH[int(answers["GenHlth"][row]) - 1],
        AGES[int(answers["Age"][row]) - 1],
        INCOMES[int(answers["Income"][row]) - 1],
        "male" if answers["Sex"][row] == 1 else "female",
    ]


def _confidence(
    answers: dict[str, np.ndarray],
    positive: np.ndarray,
    others: np.ndarray,
    rows: np.ndarray,
    rng: np.random.RandomState,
) -> np.ndarray:
    """Probability of being a case, by boosted trees that learned from other respondents."""
    from unskew.scenario.confidence import trees_confidence

    X = np.column_stack([answers[name] for name in (*YES_NO, *NUMBERS, "GenHlth", "Age", "Income", "Sex")])
    return trees_confidence(X[others], positive[others].astype(int), X[rows], rng)


def _known(
    answers: dict[str, np.ndarray], positive: np.ndarray, rows: np.ndarray, rng: np.random.RandomState
) -> np.ndarray:
    """Which cases are known: more often where blood pressure is high and there is insurance."""
    attention = (
        (1 + 5 * (answers["HighBP"][rows] == 1))
        * (0.3 + (answers["AnyHealthcare"][rows] == 1))
        * (1 - 0.8 * (answers["NoDocbcCost"][rows] == 1))
    )
    cases = np.flatnonzero(positive[rows])
    share = attention[cases] / attention[cases].sum()
    chosen = rng.choice(cases, round(LABEL_FREQ * len(cases)), replace=False, p=share)
    return np.isin(np.arange(len(rows)), chosen)
