/** Simulates campaigns of one business over HTTP. */
import { expect } from 'vitest'
import { SimulationData } from '../../src/front-door/routes/campaigns/simulation-schemas.ts'
import type { Service } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Answer, speakTo } from './http-client.ts'
import { dataOf } from './reply-shape.ts'

export interface ShownSend extends Record<'stepId' | 'at' | 'state', string> {
  reason: string | null
  detail: string | null
  message: Record<string, string> | null
}
export interface Simulated {
  sends: ShownSend[]
  state: string
  endsAt: string | null
}

export interface SimulationClient {
  tenant: TestBusiness
  ask(method: string, path: string, json?: unknown): Promise<Answer>
  /** Resolves with the id. */
  draft(steps: object[], more?: object): Promise<string>
  /** Resolves with the id. */
  template(text: string, channel?: string, more?: object): Promise<string>
  post(campaignId: string, body: object): Promise<Answer>
  simulate(campaignId: string, body: object): Promise<Simulated>
  /** Resolves with the issues of a refusal. */
  issuesOf(campaignId: string, body: object): Promise<{ path: string; message: string }[] | undefined>
}

export async function openClient(service: Service): Promise<SimulationClient> {
  const tenant = await createBusiness(service.sql, { rateLimit: 100_000 })
  const speak = speakTo(service.url)
  const client: SimulationClient = {
    tenant,
    ask: (method, path, json) => speak(method, path, { key: tenant.secretKey, json }),
    async draft(steps, more = {}) {
      const sent = { name: 'Welcome', trigger: { event: 'signup' }, goal: { event: 'paid' }, steps, ...more }
      const { status, body } = await client.ask('POST', '/api/campaigns', sent)
      expect(status).toBe(200)
      return (body.data['campaign'] as { campaignId: string }).campaignId
    },
    async template(text, channel = 'email', more = {}) {
      const variants = { en: { text, ...(channel === 'email' && { subject: 'Hello' }), ...more } }
      const sent = { name: 'T', channel, variants, defaultLanguage: 'en' }
      const { body } = await client.ask('POST', '/api/templates', sent)
      return (body.data['template'] as { templateId: string }).templateId
    },
    post: (campaignId, body) => client.ask('POST', `/api/campaigns/${campaignId}/simulate`, body),
    simulate: async (campaignId, body) =>
      dataOf(SimulationData, await client.post(campaignId, body)) as unknown as Simulated,
    async issuesOf(campaignId, body) {
      const { status, body: answer } = await client.post(campaignId, body)
      expect([status, answer.error?.code]).toEqual([400, 'invalid_request'])
      return answer.error?.issues
    },
  }
  return client
}

export const send = (id: string, name: string, more: object = {}) => ({
  id,
  type: 'send',
  channel: 'email',
  template: name,
  ...more,
})
