/** Signs a request for AWS (https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html). */
import { createHash, createHmac } from 'node:crypto'

export interface SignedRequest {
  method: string
  /** Without a query string. */
  url: URL
  /** All of them are signed. */
  headers: Record<string, string>
  body: string
}

export interface AwsCredentials {
  accessKeyId: string
  secretAccessKey: string
  region: string
  service: string
}

/** Returns the headers of the request with its signature. `now`: epoch milliseconds. */
export function signV4(
  { method, url, headers, body }: SignedRequest,
  { accessKeyId, secretAccessKey, region, service }: AwsCredentials,
  now: number,
): Record<string, string> {
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const signed = { ...headers, host: url.host, 'x-amz-date': time }
  const lines = Object.entries(signed)
    .map(([name, value]) => [name.toLowerCase(), value.trim().replaceAll(/ +/g, ' ')] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const names = lines.map(([name]) => name).join(';')
  const request = [method, url.pathname, '', ...lines.map((line) => line.join(':')), '', names, sha256(body)].join('\n')
  const scope = [time.slice(0, 8), region, service, 'aws4_request']
  const toSign = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(request)].join('\n')
  const key = scope.reduce<string | Buffer>((before, part) => hmac(before, part), `AWS4${secretAccessKey}`)
  const signature = hmac(key, toSign).toString('hex')
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope.join('/')}, SignedHeaders=${names}, Signature=${signature}`
  return { ...headers, 'x-amz-date': time, authorization }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
