/** The pages of analytics on where contacts are, how engaged, and in which campaigns and segments. */
export const texts = {
  start: 'Start',
  share: 'Share',

  lifecycle: 'Who is active',
  lifecycleIntro:
    'New: active for the first time. Returning: also active in the previous interval. Resurrecting: active again after a break. Dormant: active in the previous interval, but not in this one. The last interval may not be over yet.',
  active: 'Active means did',
  kinds: { returning: 'Returning', new: 'New', resurrecting: 'Resurrecting', dormant: 'Dormant' },

  stagesNow: 'Contacts by stage, now',
  stage: 'Stage',
  moves: 'Moves between stages',
  movesIntro: 'Dated by the event that caused the move.',
  movesOverTime: 'Moves over time',
  fromTo: 'From the row to the column',
  newContact: 'New contact',
  beganIn: (stage: string) => `New in ${stage}`,
  move: (from: string, to: string) => `${from} → ${to}`,

  scores: 'Contacts by engagement score, now',
  scoresIntro:
    'From 0 to 100. An event adds 5 points; a page view and a minute of active time add 1 each. Points lose half their value every 14 days. 20 points make a score of 50.',
  score: 'Score',
  withoutScore: 'Without a score',
  withoutScoreNote: 'no activity yet',
  median: 'Median',
  medianNote: 'of those with a score',
  noScoresTitle: 'No scores yet',
  noScores: 'A contact gets a score with the first event or page view.',
  movers: 'Movers of the week',
  moversIntro: 'Contacts whose score changed most in 7 days. Without activity, a score falls.',
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
  enrolledTrend: (most: string) => `Enrolments by day over 30 days, at most ${most} in one day`,
}
