/** Who is to blame for a permanent refusal, by the reply of the receiving server (RFC 5321, RFC 3463). */
import type { Blame } from './blame.ts'

export interface SmtpReply {
  /** The reply, starting with its code, such as `550 5.1.1 no such user`. */
  reply: string
  /** True when it is the answer to RCPT. */
  isAtRecipient: boolean
}

interface ReadReply {
  /** The enhanced code; without one, the three digits. */
  code: string
  /** Without addresses, hosts and URLs, which may contain any word. */
  words: string
  isAtRecipient: boolean
}

interface Rule {
  codes: RegExp
  /** Default: any words. */
  says?: RegExp
  /** True for a rule about answers to RCPT alone. */
  atRecipient?: true
  blame: Blame
}

const NAMES_RECIPIENT = /\b(recipient|mailbox|user|account)s?\b/i
/** About the sender, its reputation, or the content. */
const NAMES_SENDER =
  /\b(senders?|block(ed|ing|list(ed)?)|(black|block|deny) ?list(ed)?|blacklist(ed)?|spam\w*|polic(y|ies)|relay(ing)?|reputation|dmarc|dkim|spf|content|virus|malware|phishing|abuse|banned|reverse dns|ptr|rbl|dnsbl)\b/i
const UNKNOWN =
  /\b(unknown|no such|invalid|not (exist|found|known|valid)|(does|do|did)(n't| not) (exist|have)|doesnt exist|no longer)\b/i
const UNUSABLE =
  /\b(disabled|inactive|deactivated|suspended|closed|expired|(un|not )available|full|over ?quota|quota exceeded|exceeded storage)\b/i
const oneOf = (...all: RegExp[]): RegExp => new RegExp(all.map(({ source }) => source).join('|'), 'i')
/** The recipient in one place of a sentence, and what is wrong with it in another. */
const both = (one: RegExp, other: RegExp): RegExp =>
  new RegExp(`(${one.source}).*(${other.source})|(${other.source}).*(${one.source})`, 'i')

/** The first rule that fits counts. */
const RULES: readonly Rule[] = [
  // The address does not exist, or permanently accepts no mail.
  { codes: /^5\.1\.([1236]|10)$|^5\.2\.1$/, blame: 'hard_bounce' },
  { codes: /^55[013]$/, atRecipient: true, blame: 'hard_bounce' },
  // A full mailbox, a list that takes no mail, an address that needs SMTPUTF8, and accounts that were disabled or changed hands.
  { codes: /^5\.2\.[2-9]$|^5\.6\.7$|^5\.7\.1[378]$/, blame: 'recipient' },
  // The address of the sender.
  { codes: /^5\.1\.[78]$/, blame: 'sender' },
  { codes: /^5\.7\./, says: both(NAMES_RECIPIENT, UNKNOWN), blame: 'recipient' },
  { codes: /^5\.7\./, blame: 'sender' },
  { codes: /^/, says: NAMES_SENDER, blame: 'sender' },
  // Codes that large providers use for any fault of an address.
  { codes: /^5\.(1\.0|4\.1|5\.0)$/, says: NAMES_RECIPIENT, blame: 'hard_bounce' },
  { codes: /^5\.[12]\./, blame: 'recipient' },
  { codes: /^5\.4\.|^5\.5\.0$|^552$/, atRecipient: true, blame: 'recipient' },
  // A message that is too large, or in a form that is not accepted.
  { codes: /^5\.(3\.4|6\.)/, blame: 'sender' },
  { codes: /^/, says: both(NAMES_RECIPIENT, oneOf(UNKNOWN, UNUSABLE)), blame: 'recipient' },
]

/** Undefined when the reply does not show it. Not for a reply to MAIL, which is about the sender. */
export function blameOfReply(reply: SmtpReply): Blame | undefined {
  const { code, words, isAtRecipient } = readReply(reply)
  return RULES.find(
    ({ codes, says, atRecipient = false }) =>
      codes.test(code) && (says?.test(words) ?? true) && (isAtRecipient || !atRecipient),
  )?.blame
}

const REPLY = /^(\d{3})(?!\d)(?:[ -](\d\.\d{1,3}\.\d{1,3})(?!\S))?/
const NAMES = /\S*@\S*|\bhttps?:\S*|\b[\w-]+(\.[\w-]+)+\b/gi
/** So that long replies take no time. */
const MAX_WORDS = 1000

function readReply({ reply, isAtRecipient }: SmtpReply): ReadReply {
  const [, code = '', status = code] = REPLY.exec(reply.trim()) ?? []
  const words = reply.slice(0, MAX_WORDS).replaceAll('’', "'").replaceAll(NAMES, ' ').replaceAll(/\s+/g, ' ')
  return { code: status, words, isAtRecipient }
}
