/** Who is to blame for a permanent refusal, by the reply of the receiving server (RFC 5321, RFC 3463). */
import type { Blame } from './blame.ts'

export interface SmtpReply {
  /** The reply, starting with its code, such as `550 5.1.1 no such user`. */
  reply: string
  /** True when it is the answer to RCPT. */
  isAtRecipient: boolean
}

interface ReadReply {
  /** The enhanced code; without one, and for a refused login, the three digits. */
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

const oneOf = (...all: RegExp[]): RegExp => new RegExp(all.map(({ source }) => source).join('|'), 'i')

const NAMES_RECIPIENT = /\b(recipient|mailbox|user|account)s?\b/i
/** About the sender, its reputation, its rights, its rate, or the content. */
const NAMES_SENDER = oneOf(
  /\b(senders?|your (account|ip|server|host|domain|network)|(client|source) (ip|host)|(mail|sent|envelope) from|from address|helo|ehlo)\b/,
  /\b(block(ed|ing|s)?|(black|block|deny)[ -]?list(s|ed|ing)?|(?<!not )listed (at|by|in|on)|rbl|dnsbl|banned|reputation|reverse dns|rdns|ptr)\b/,
  /\b(dmarc|dkim|spf|spam\w*|spoof\w*|forged|unsolicited|bulk|polic(y|ies)|content|virus|malware|phishing|abuse)\b/,
  // `User unknown in relay recipient table` is about the recipient.
  /\b(relay(ing)?(?! recipient)|rcpthosts|(un)?authenticat\w*|credentials?|log ?in|password|(start)?tls)\b/,
  /\b((not |un)authori[sz]ed(?! to receive)|(allowed|permitted) to (send|use)|\w*send ?as ?denied\w*|not owned by)\b/,
  // `exceeded its storage limit` is about the recipient.
  /\b(rate|frequency|throttl\w*|hourly|daily|per (minute|hour|day)|too many (connections|e?-?mails|errors|recipients))\b/,
  /\b(connection|recipient|e?-?mail|outgoing|outbound|send)s? (limit|quota)\b/,
  /(?<!\b(are|before|when) )\bsending\b(?! (\w+ )?(again|to)\b)|(?<!\b(recipient|mailbox|user) )\bverif(y|ication) failed\b/,
)
const UNKNOWN =
  /\b(unknown|no such|invalid|not (exist|found|known|valid)|(does|do|did)(n't| not) (exist|have)|doesnt exist|no longer)\b/i
const UNUSABLE =
  /\b(disabled|inactive|deactivated|suspended|closed|expired|(un|not )available|full|over ?quota|quota exceeded|exceeded storage)\b/i
/** The recipient in one place of a sentence, and what is wrong with it in another. */
const both = (one: RegExp, other: RegExp): RegExp =>
  new RegExp(`(${one.source}).*(${other.source})|(${other.source}).*(${one.source})`, 'i')

/** Next to each other: a sentence about the sender may contain both words. */
const UNKNOWN_RECIPIENT =
  /\b(recipient|mailbox|user)s? (is |was )?(unknown|not found|((does|do|did)(n't| not)|doesnt) exist)\b|\b(no such|unknown|invalid) (recipient|mailbox|user)\b/i

/** The address does not exist, or permanently accepts no mail. */
const HARD = /^5\.1\.([1236]|10)$|^5\.2\.1$/

/** The first rule that fits counts. */
const RULES: readonly Rule[] = [
  { codes: HARD, blame: 'hard_bounce' },
  // A full mailbox, a list that takes no mail, an address that needs SMTPUTF8, and addresses that changed hands.
  { codes: /^5\.2\.[2-9]$|^5\.6\.7$|^5\.7\.1[78]$/, blame: 'recipient' },
  { codes: /^5\.4\.6$/, says: /\b(loop|hops?)\b/i, blame: 'recipient' },
  // The address of the sender, its limits, and its login.
  { codes: /^5\.1\.([78]|90)$|^5\.2\.(12[12]|252)$|^5\.4\.[56]$|^53/, blame: 'sender' },
  // No other code says more than words about the sender.
  { codes: /^/, says: NAMES_SENDER, blame: 'sender' },
  { codes: /^55[013]$/, atRecipient: true, blame: 'hard_bounce' },
  { codes: /^5\.7\.1$/, says: UNKNOWN_RECIPIENT, blame: 'recipient' },
  { codes: /^5\.7\./, blame: 'sender' },
  // Codes that large providers use for any fault of an address.
  { codes: /^5\.(1\.0|4\.1|5\.0)$/, says: NAMES_RECIPIENT, atRecipient: true, blame: 'hard_bounce' },
  { codes: /^5\.(4\.1|5\.0)$/, says: NAMES_RECIPIENT, blame: 'recipient' },
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

/** Whether the words of a provider say by themselves that the address accepts no mail, although it calls the bounce a passing one. */
export function saysHardBounce(said: string | null): boolean {
  const [reply] = /\b5\d\d[ -]5\.\d{1,3}\.\d{1,3}(?![\d.])[^]*/.exec(said ?? '') ?? []
  // Providers do not say which command was answered, and report bounces of recipients.
  return reply !== undefined && blameOfReply({ reply, isAtRecipient: true }) === 'hard_bounce'
}

const REPLY = /^(\d{3})(?!\d)(?:[ -](\d\.\d{1,3}\.\d{1,3})(?!\S))?/
const NAMES = /\S*@\S*|\bhttps?:\S*|\b[\w-]+(\.[\w-]+)+\b/gi
/** So that long replies take no time. */
const MAX_WORDS = 1000

function readReply({ reply, isAtRecipient }: SmtpReply): ReadReply {
  const [, digits = '', status = digits] = REPLY.exec(reply.trim()) ?? []
  const words = reply.slice(0, MAX_WORDS).replaceAll('’', "'").replaceAll(NAMES, ' ').replaceAll(/\s+/g, ' ')
  // 53x is about the login, whatever follows (RFC 4954).
  return { code: digits.startsWith('53') && !HARD.test(status) ? digits : status, words, isAtRecipient }
}
