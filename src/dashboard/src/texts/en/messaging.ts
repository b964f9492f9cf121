/** Quiet hours and caps of the business, in the settings. */
export const texts = {
  title: 'Messages',
  intro: 'Settings that apply to all campaigns.',
  rules: 'Quiet hours and caps',
  rulesIntro:
    'Campaigns without quiet hours of their own use these. Changes apply at once, also to contacts who are already enrolled.',
  capsHint: 'Messages to a contact are counted across all campaigns. The caps of each campaign apply as well.',
}
