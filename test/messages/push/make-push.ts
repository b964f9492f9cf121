/** Applies the standards of web push on the current runtime, and prints each outcome. */
import { encryptPush, isBrowserKey } from '../../../src/messages/channels/web-push/encrypt.ts'
import { makeVapidKeys, vapidHeader } from '../../../src/messages/channels/web-push/vapid.ts'
import { makeBrowser, verifyVapid } from './push-service.ts'

const browser = makeBrowser('https://push.example/send')
const { endpoint, keys } = browser.subscription
const sender = makeVapidKeys()
const header = await vapidHeader(sender, { endpoint, subject: 'mailto:push@shop.example', now: 0 })
const { claims, key } = await verifyVapid(header)
const noPoint = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 0xff)]).toString('base64url')
const made = {
  text: await browser.decrypt(encryptPush(Buffer.from('Grüße'), keys)),
  claims,
  isSigned: key === sender.publicKey,
  areKeys: [keys.p256dh, noPoint, ''].map(isBrowserKey),
}
process.stdout.write(JSON.stringify(made))
process.exit(0)
