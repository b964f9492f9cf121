/** The dialog that sends all messages of a campaign at once. */
export const texts = {
  button: 'Send me the sequence',
  title: 'Send me the whole sequence',
  intro:
    'All messages go out now, one after the other, without waits and whatever the consent. Nobody is enrolled, and no report counts them.',
  addresses: {
    email: 'Email address',
    sms: 'Phone number for SMS',
    whatsapp: 'Phone number for WhatsApp',
    push: 'ID of a contact',
  } as Partial<Record<string, string>>,
  emptyHint: 'Empty: its messages are skipped.',
  anybody: 'As nobody in particular',
  contactHint: 'As a contact: its way through branches, and its values in the messages.',
  send: 'Send them',
  outcome: 'What became of them',
  outcomes: {
    accepted: 'Accepted',
    refused: 'Refused for good',
    temporary: 'Not taken now',
    unknown: 'No answer',
    template_failed: 'Template failed',
    skipped: 'Skipped',
    not_sent: 'Out of time',
  },
  logged: 'Kept in the log: nothing left the server.',
  says: 'The provider says:',
  nothing: 'Nothing is sent on this way.',
}
