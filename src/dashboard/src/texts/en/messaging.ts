/** Quiet hours and caps of the business, in the settings. */
export const texts = {
  title: 'Messages',
  intro: 'What holds for all campaigns.',
  rules: 'Quiet hours and caps',
  rulesIntro:
    'The quiet hours are those of the campaigns that name none. Changes hold from now on, for everyone who is enrolled.',
  capsHint: 'The messages to a contact are counted over all campaigns. These caps hold besides those of each campaign.',
}
