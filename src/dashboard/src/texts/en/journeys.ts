/** The pages of analytics on where contacts are, how engaged, and in which campaigns and segments. */
export const texts = {
  start: 'Beginning',
  share: 'Share',

  lifecycle: 'Who is active',
  lifecycleIntro:
    'New: active for the first time. Returning: active in the interval before, too. Resurrecting: active again after a pause. Dormant: active in the interval before, but not in this one. The last interval may not be over.',
  active: 'Active is who did',
  kinds: { returning: 'Returning', new: 'New', resurrecting: 'Resurrecting', dormant: 'Dormant' },

  stagesNow: 'Contacts by stage, now',
  stage: 'Stage',
  moves: 'Moves between stages',
  movesIntro: 'By when the event happened that caused the move.',
  movesOverTime: 'Moves over time',
  fromTo: 'From the row to the column',
  newContact: 'New contact',
  beganIn: (stage: string) => `New in ${stage}`,
  move: (from: string, to: string) => `${from} → ${to}`,

  scores: 'Contacts by engagement score, now',
  scoresIntro:
    'From 0 to 100. An event counts 5 points, a page view and a minute of active time 1 each; a point loses half its value every 14 days. 20 points are a score of 50.',
  score: 'Score',
  withoutScore: 'Without a score',
  withoutScoreNote: 'did nothing yet',
  median: 'Median',
  medianNote: 'of those with a score',
  noScoresTitle: 'No scores yet',
  noScores: 'A contact has a score from the first event or page view on.',
  movers: 'Movers of the week',
  moversIntro: 'Those whose score changed most within 7 days. Without activity, a score falls.',
  risen: 'Risen',
  fallen: 'Fallen',
  noMovers: 'None this week',
  before: 'Before',
  now: 'Now',
  change: 'Change',

  allSegments: 'All segments',
  allCampaigns: 'All campaigns',
  noCampaigns: 'No running campaigns',
  enrolledLately: 'Enrolled',
  convertedLately: 'Converted',
  enrolledByDay: 'Last 30 days',
  enrolledTrend: (most: string) => `Enrolled by day in 30 days, at most ${most} in one`,
}
