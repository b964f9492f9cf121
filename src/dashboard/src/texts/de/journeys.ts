import type { texts as english } from '../en/journeys.ts'

export const texts: typeof english = {
  start: 'Beginn',
  share: 'Anteil',

  lifecycle: 'Wer aktiv ist',
  lifecycleIntro:
    'Neu: zum ersten Mal aktiv. Wiederkehrend: auch im Abschnitt davor aktiv. Zurückgekehrt: nach einer Pause wieder aktiv. Ruhend: im Abschnitt davor aktiv, in diesem nicht. Der letzte Abschnitt kann noch laufen.',
  active: 'Aktiv ist, wer dies tat',
  kinds: { returning: 'Wiederkehrend', new: 'Neu', resurrecting: 'Zurückgekehrt', dormant: 'Ruhend' },

  stagesNow: 'Kontakte je Phase, jetzt',
  stage: 'Phase',
  moves: 'Wechsel zwischen Phasen',
  movesIntro: 'Danach, wann das Ereignis geschah, das den Wechsel bewirkte.',
  movesOverTime: 'Wechsel im Zeitverlauf',
  fromTo: 'Von der Zeile in die Spalte',
  newContact: 'Neuer Kontakt',
  beganIn: (stage) => `Neu in ${stage}`,
  move: (from, to) => `${from} → ${to}`,

  scores: 'Kontakte nach Engagement, jetzt',
  scoresIntro:
    'Von 0 bis 100. Ein Ereignis zählt 5 Punkte, ein Seitenaufruf und eine Minute aktiver Zeit je 1; ein Punkt verliert alle 14 Tage die Hälfte seines Werts. 20 Punkte sind ein Wert von 50.',
  score: 'Wert',
  withoutScore: 'Ohne Wert',
  withoutScoreNote: 'taten noch nichts',
  median: 'Median',
  medianNote: 'derer mit einem Wert',
  noScoresTitle: 'Noch keine Werte',
  noScores: 'Ein Kontakt hat ab dem ersten Ereignis oder Seitenaufruf einen Wert.',
  movers: 'Größte Änderungen der Woche',
  moversIntro: 'Kontakte, deren Wert sich in 7 Tagen am meisten geändert hat. Ohne Aktivität sinkt ein Wert.',
  risen: 'Gestiegen',
  fallen: 'Gesunken',
  noMovers: 'Keine in dieser Woche',
  before: 'Vorher',
  now: 'Jetzt',
  change: 'Änderung',

  allSegments: 'Alle Segmente',
  allCampaigns: 'Alle Kampagnen',
  noCampaigns: 'Keine laufenden Kampagnen',
  enrolledLately: 'Aufgenommen',
  convertedLately: 'Ziel erreicht',
  enrolledByDay: 'Letzte 30 Tage',
  enrolledTrend: (most) => `Aufgenommen je Tag in 30 Tagen, höchstens ${most} an einem`,
}
