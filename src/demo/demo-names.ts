/** Names and places of the demo people, by language. */
type Names = [
  first: string[],
  last: string[],
  language: string,
  places: [country: string, city: string, zone: string][],
]

export const NAMES: Names[] = [
  [
    ['Emma', 'James', 'Olivia', 'Noah', 'Ava', 'Liam', 'Grace', 'Henry'],
    ['Smith', 'Taylor', 'Brown', 'Wilson', 'Davis', 'Clark'],
    'en',
    [
      ['US', 'Boston', 'America/New_York'],
      ['GB', 'Leeds', 'Europe/London'],
    ],
  ],
  [
    ['Lena', 'Jonas', 'Mia', 'Paul', 'Zoë', 'Jürgen'],
    ['Müller', 'Schäfer', 'Weiß', 'Koch', 'Vogel'],
    'de',
    [
      ['DE', 'Hamburg', 'Europe/Berlin'],
      ['AT', 'Wien', 'Europe/Vienna'],
    ],
  ],
  [
    ['נועה', 'איתי', 'תמר', 'יונתן', 'מאיה'],
    ['כהן', 'לוי', 'מזרחי', 'פרידמן'],
    'he',
    [
      ['IL', 'תל אביב', 'Asia/Jerusalem'],
      ['IL', 'חיפה', 'Asia/Jerusalem'],
    ],
  ],
  [
    ['Sofía', 'Mateo', 'Lucía', 'Diego', 'Núria'],
    ['García', 'Muñoz', 'Ortega', 'Ibáñez'],
    'es',
    [
      ['ES', 'Sevilla', 'Europe/Madrid'],
      ['MX', 'Puebla', 'America/Mexico_City'],
    ],
  ],
  [
    ['Łucja', 'Paweł', 'Zofia', 'Michał'],
    ['Wiśniewska', 'Dąbrowski', 'Zając'],
    'pl',
    [['PL', 'Gdańsk', 'Europe/Warsaw']],
  ],
]
