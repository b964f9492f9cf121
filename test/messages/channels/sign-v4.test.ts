/** Against the signature test suite of AWS (aws-sig-v4-test-suite). */
import { expect, it } from 'vitest'
import { signV4 } from '../../../src/messages/channels/http/sign-v4.ts'

const CREDENTIALS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
  service: 'service',
}
const NOW = Date.UTC(2015, 7, 30, 12, 36)

it.each([
  ['get-vanilla', 'GET', {}, '', 'host;x-amz-date', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'post-vanilla',
    'POST',
    {},
    '',
    'host;x-amz-date',
    '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  ],
  [
    'post-x-www-form-urlencoded',
    'POST',
    { 'Content-Type': 'application/x-www-form-urlencoded' },
    'Param1=value1',
    'content-type;host;x-amz-date',
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  ],
] as const)('%s', (_, method, headers, body, names, signature) => {
  const url = new URL('https://example.amazonaws.com/')
  expect(signV4({ method, url, headers, body }, CREDENTIALS, NOW)).toEqual({
    ...headers,
    'x-amz-date': '20150830T123600Z',
    authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
  })
})
