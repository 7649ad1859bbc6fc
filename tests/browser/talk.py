"""What a person says in a browser, and what must come back."""

#: Each message with a part of its answer. The question about the shop interrupts the order.
ORDER = [
    ("hello, I'm Jane!", "Hello"),
    # Her first name is known from the greeting.
    ("I'd like to order new sneakers", "last name"),
    ("Jane Austin", "email"),
    ("jane@example.com", "colour"),
    ("black, please", "size"),
    ("9", "Where shall we send"),
    ("is there a shop in Denver?", "Best Foot Forward in Denver"),
    ("12 Elm Street", "city"),
    ("Springfield", "postal code"),
    ("62704", "phone number"),
    ("skip that", "?"),
    ("actually, make it size 9.5", "9.5"),
    ("yes", "is placed. We will write to jane@example.com"),
    ("thanks a lot", "welcome"),
    ("what is the meaning of life?", "can't help with that"),
]

#: A shorter conversation in the same form.
QUESTION = [
    ("hi there", "Hello"),
    ("is there a shop in Boston?", "Best Foot Forward in Boston"),
    ("where is my order AB123456?", "on its way"),
    ("bye", ""),
]

#: In front of a model server: it answers messages that mean no function, in words that cannot be predicted (`None`).
FRONT = [
    ("hello!", None),
    ("I want to order new sneakers", "first name"),
    ("Jane Austin", "email"),
    ("cancel that", "cancelled"),
    ("tell me a joke", None),
    ("is there a shop in Denver?", "Best Foot Forward in Denver"),
    ("do you like it there yourself?", None),
]
