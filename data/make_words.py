"""Make words.csv: three readable features for every plain word a small language model knows.

    python make_words.py FOLDER

FOLDER holds model.safetensors and vocab.txt of all-MiniLM-L6-v2 (README.md says where to get them).
A feature is a direction in the model's table of word embeddings, fitted by ridge regression on the
words below. No value is set or corrected by hand. Needs NumPy only.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
FEATURES = ["deed", "being", "thing"]
RIDGE = 1.0  # predicts a left-out word of SEEDS about as well as any value from 0.1 to 20

SEEDS = {
    "deed": """
        bite bites biting bitten eat eats eating ate eaten drink drinking drank chase chases chasing
        chased throw throws throwing threw carry carries carrying carried kick kicked kicking
        push pushes pushed pushing pull pulls pulled pulling write writes writing wrote
        read reads reading sing sings singing sang run runs running ran walk walks walked walking
        jump jumps jumped jumping swim swimming swam build builds building built
        open opens opened opening give gives giving gave take takes taking took
        find finds finding found hear hears hearing heard see sees seeing seen
        say says said tell tells told ask asks asked know knows knew think thinks thought
        buy buys buying bought sell sells selling sold sleep sleeps slept sleeping
        sit sits sat sitting laugh laughs laughed laughing love loves loved kiss kissed kissing
        bring brings brought send sends sent grab grabbed grabbing wash washed washing
        teach teaches taught paint painted painting help helps helped helping
        destroy destroyed attack attacked arrive arrived leave leaves speak speaks spoke
        """,
    "being": """
        man men woman women boy boys girl girls child children baby babies person people
        mother father brother sister uncle aunt grandmother son daughter wife husband friend friends
        teacher teachers doctor doctors nurse farmer farmers soldier soldiers king queen prince
        princess student students lawyer singer poet priest thief sailor gentleman lady
        neighbor hunter dancer writer artist scientist captain policeman kid kids guy
        dog dogs cat cats horse horses cow cows sheep goat pig pigs mouse mice rat wolf wolves
        lion tiger panda fox rabbit monkey elephant bird birds eagle owl chicken
        frog snake shark spider bee butterfly animal animals puppy creature
        i you he she we they him who me
        john mary anna peter tom sarah david emma lucy james alice ali carlos ahmed maria
        """,
    "thing": """
        table tables chair chairs desk bed beds lamp lamps door doors window windows wall walls
        floor roof house houses kitchen garden street streets bridge bridges tower church
        car cars truck bus train trains bicycle boat boats ship airplane wheel engine
        cup cups bottle bottles plate plates bowl knife knives fork spoon pan kettle
        bread cheese cake soup milk coffee tea wine sugar salt apple apples sandwich pizza
        book books letter newspaper paper pencil pen box boxes bag bags basket bucket
        hammer axe rope nail ladder sword gun rifle stone stones rock brick bricks wood
        shirt shirts coat hat hats shoe shoes dress jacket gloves blanket pillow towel
        key keys lock coin coins ring necklace mirror clock candle camera piano guitar drum
        computer phone telephone television radio machine ball balls toy toys doll stick
        river lake mountain sand glass gold silver iron
        """,
    "none": """
        the a an this that these those some any every each no all both many much few several other
        of in on at by for with from to into onto over under between behind before after during
        without through across about against near and or but because although while if than so
        as not never always often sometimes very too quite almost already soon now then here there
        is are was were be been am has have had do does did will would can could should may might
        must it its his my your our their what which when where why how yes also again only even
        just still up down out off away together maybe yesterday tomorrow
        big small large little old young new good bad happy sad angry tired hot cold warm wet dry
        red blue green yellow black white brown dark long short tall thin thick heavy strong
        weak fast slow quick lazy clever stupid brave beautiful ugly rich poor hungry careful
        quickly slowly carefully loudly gently suddenly
        one two three four five ten hundred first second last
        year years day week month hour summer winter morning monday july
        idea truth beauty freedom justice reason science history law theory peace hope luck
        anger joy fear music politics religion economy education importance problem
        london paris france china america africa
        """,
}

HELD_OUT = {  # never used in the fit; the verbs share no stem with the ones above
    "deed": """
        catch catches caught catching climb climbs climbed climbing cook cooked cooking cries cried
        crying
        dance danced dancing dig digging drive drives drove driving fight fights fought fighting
        fly flies flew flying follow follows followed following forget forgot hit hits hitting hide
        hides hiding kill kills killed killing learn learned listen listened listening
        lose loses lost meet meets met play plays played playing remember remembered
        shout shouted smile smiled smiling steal stole stealing wait waited waiting watch watches
        watched watching wear wears wearing wore win wins winning won
        """,
    "being": """
        cousin grandfather bride actor actress waiter baker butcher driver pilot pirate knight
        emperor professor engineer workers dentist mayor monk witch giant
        stranger enemy lover hero boss clerk cop guest parents twins
        donkey deer squirrel camel duck geese hawk crow parrot whale dolphin salmon
        turtle lizard crocodile ant mosquito beetle kitten calf lamb
        himself herself somebody everyone paul robert susan laura george
        """,
    "thing": """
        sofa couch shelf drawer carpet curtain ceiling stairs fence gate barn castle cottage
        van taxi tractor motorcycle wagon ferry helicopter rocket tire brake
        mug jar dish oven stove fridge butter rice potato banana lemon chocolate
        envelope notebook magazine map suitcase wallet umbrella needle thread shovel
        spear cannon arrow bullet log plank trousers boots socks scarf belt
        bracelet crown violin flute trumpet laptop keyboard printer battery wire island
        """,
    "none": """
        such another neither beneath toward beside until unless though whether whose rather
        really twice ever perhaps nearly today inside however therefore
        sweet loud quiet bright empty full clean dirty soft narrow wide deep round sharp expensive
        cheap dangerous famous friendly cruel orange purple six seven twenty third
        softly badly easily happily minute century autumn evening friday march
        wisdom courage knowledge honor opinion method philosophy democracy mathematics
        germany tokyo india
        """,
}


def read_embeddings(folder):
    """Return the plain lower-case words and their embeddings, (words, 384), centred, length 1."""
    data = (Path(folder) / "model.safetensors").read_bytes()
    if hashlib.sha256(data).hexdigest() != SHA256:
        sys.exit(f"{folder}/model.safetensors is not the file that words.csv was made from")
    size = int.from_bytes(data[:8], "little")  # a safetensors file: size, JSON header, raw numbers
    entry = json.loads(data[8 : 8 + size])["embeddings.word_embeddings.weight"]
    start, stop = (8 + size + offset for offset in entry["data_offsets"])
    table = np.frombuffer(data[start:stop], dtype="<f4").reshape(entry["shape"])
    pieces = (Path(folder) / "vocab.txt").read_text(encoding="utf-8").splitlines()
    rows = [i for i, p in enumerate(pieces) if p.isascii() and p.isalpha() and p.islower()]
    E = table[rows].astype(np.float64)
    E -= E.mean(axis=0)
    return [pieces[i] for i in rows], E / np.linalg.norm(E, axis=1, keepdims=True)


def pick(groups, words, E):
    """Return embeddings (m, 384) and group numbers (m,) of the listed words."""
    row = {word: i for i, word in enumerate(words)}
    listed = [(w, c) for c, text in enumerate(groups.values()) for w in text.split()]
    missing = [w for w, _ in listed if w not in row]
    if missing:
        sys.exit(f"not in the vocabulary: {' '.join(missing)}")
    return E[[row[w] for w, _ in listed]], np.array([c for _, c in listed])


def fit(X, group):
    """Return W (385, 3): ridge regression of "is it in this group?", bias in the last row.

    Scaled so that in each feature the group's own words average 1 and all the others 0.
    """
    X = np.column_stack([X, np.ones(len(X))])
    Y = (group[:, None] == np.arange(len(FEATURES))).astype(float)  # (m, 3) of 0 and 1
    penalty = RIDGE * np.eye(X.shape[1])
    penalty[-1, -1] = 0  # the bias is free
    W = np.linalg.solve(X.T @ X + penalty, X.T @ Y)
    own = (X @ W * Y).sum(axis=0) / Y.sum(axis=0)
    others = (X @ W * (1 - Y)).sum(axis=0) / (1 - Y).sum(axis=0)
    W[-1] -= others
    return W / (own - others)


def features(X, W):
    """Return the values (m, 3), to one decimal."""
    return np.round(X @ W[:-1] + W[-1], 1) + 0.0  # + 0.0 turns -0.0 into 0.0


def report(values, group):
    """Print how many words have their group's feature largest and above 0.5 (none: no feature is)."""
    guess = np.where(values.max(axis=1) > 0.5, values.argmax(axis=1), len(FEATURES))
    for c, name in enumerate(HELD_OUT):
        mine = group == c
        mean = "  ".join(f"{f} {v:4.1f}" for f, v in zip(FEATURES, values[mine].mean(axis=0)))
        print(f"{name:6}{(guess[mine] == c).sum():4} of {mine.sum():3} right   mean: {mean}")
    right = guess == group
    print(f"all   {right.sum():4} of {len(right):3} right ({right.mean():.1%})")


def main(folder):
    words, E = read_embeddings(folder)
    both = set(" ".join(SEEDS.values()).split()) & set(" ".join(HELD_OUT.values()).split())
    assert not both, f"used in the fit and in its test: {both}"
    W = fit(*pick(SEEDS, words, E))
    held_out, group = pick(HELD_OUT, words, E)
    print("words held out of the fit:")
    report(features(held_out, W), group)
    rows = [f"{w},{d:.1f},{b:.1f},{t:.1f}" for w, (d, b, t) in zip(words, features(E, W))]
    text = "\n".join(["word," + ",".join(FEATURES), *sorted(rows)]) + "\n"
    Path(__file__).with_name("words.csv").write_text(text, encoding="utf-8", newline="\n")
    print(f"words.csv: {len(rows)} words, SHA-256 {hashlib.sha256(text.encode()).hexdigest()}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
