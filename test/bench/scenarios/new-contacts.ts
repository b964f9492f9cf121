import { CROWD } from './saturation.ts'
import { type Scenario, atLeast, noError } from './scenario.ts'

export const newContacts: Scenario = {
  name: 'new-contacts',
  title: 'every event a new contact',
  async run(bench) {
    const callers = await bench.openCallers({ kind: 'new-contacts', prefix: 'new-' })
    const measured = await bench.send([callers, { ...CROWD, seconds: bench.length(3, 30) }])
    const { sql } = bench.stack.own
    const [found] = await sql<[{ contacts: number }]>`
      select count(*)::int as contacts from contacts where business_id = ${callers.businessIds[0] ?? ''}`
    return {
      checks: [
        atLeast('sustained', measured.rate, 7000, 'answers/s'),
        {
          goal: 'a contact for each',
          figure: `${found.contacts} contacts of ${measured.events} events`,
          met: found.contacts === measured.events,
        },
        noError(measured.load),
      ],
      measured: { 'new contacts': measured },
    }
  },
}
