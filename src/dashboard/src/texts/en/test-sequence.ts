/** The dialog that sends all messages of a campaign at once. */
export const texts = {
  button: 'Send me the sequence',
  title: 'Send me the whole sequence',
  intro:
    'Sends all messages now, one after another, without waits and regardless of consent. Nobody is enrolled, and no report counts them.',
  addresses: {
    email: 'Email address',
    sms: 'Phone number for SMS',
    whatsapp: 'Phone number for WhatsApp',
    push: 'ID of a contact',
  } as Partial<Record<string, string>>,
  emptyHint: 'Empty: these messages are skipped.',
  anybody: 'As nobody in particular',
  contactHint: 'As a contact: its data decides the branches and fills the messages.',
  send: 'Send them',
  outcome: 'What happened to them',
  outcomes: {
    accepted: 'Accepted',
    refused: 'Permanently refused',
    temporary: 'Not accepted this time',
    unknown: 'No answer',
    template_failed: 'Template failed',
    skipped: 'Skipped',
    not_sent: 'Out of time',
  },
  logged: 'Kept in the log: nothing left the server.',
  says: 'The provider says:',
  nothing: 'No messages are sent on this path.',
}
