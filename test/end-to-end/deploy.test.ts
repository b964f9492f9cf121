// @long
/**
 * docs/deploy: every file is checked by the program that it is written for, and uses names that exist in this version.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createMetrics } from '../../src/metrics.ts'
import { ensureCommand } from '../support/ensure-command.ts'

const run = promisify(execFile)
const FOLDER = fileURLToPath(new URL('../../docs/deploy/', import.meta.url))
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'sluice-deploy-'))
afterAll(() => rmSync(folder, { recursive: true }))
const INSTALLING = 300_000

describe('the systemd units', () => {
  const units = readdirSync(FOLDER).filter((name) => name.endsWith('.service'))
  /** Replaces paths by those of this machine, which has no /opt/sluice. */
  const install = (change = (text: string) => text) =>
    units.map((name) => {
      const here = change(read(name)).replace('/opt/sluice/node_modules/.bin/bun', '/bin/true')
      writeFileSync(join(folder, name), here)
      return join(folder, name)
    })

  it('are well formed', { timeout: INSTALLING }, async () => {
    const analyze = await ensureCommand(['systemd-analyze'], 'systemd')
    expect(units).toHaveLength(3)
    const { stdout, stderr } = await run(analyze, ['verify', ...install()])
    expect(stdout + stderr).toBe('')
    const misspelt = await run(analyze, ['verify', ...install((text) => text.replace('Restart=', 'Restrt='))])
    expect(misspelt.stderr).toContain('Restrt')
  })

  it('run existing commands, in the directory of the sources', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object }
    const commands = units.flatMap((name) => /^ExecStart=\S+ src\/cli\.ts (\w+)$/m.exec(read(name))?.[1] ?? [])
    expect(commands.toSorted()).toEqual(['migrate', 'serve', 'workers'])
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(commands))
  })
})

describe('the proxies', () => {
  it('Caddy accepts its file, and would format it the same', { timeout: INSTALLING }, async () => {
    const caddy = await ensureCommand(['caddy'], 'caddy')
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
    const file = join(FOLDER, 'Caddyfile')
    await run(caddy, ['validate', '--config', file, '--adapter', 'caddyfile'], { env })
    expect((await run(caddy, ['fmt', file], { env })).stdout).toBe(read('Caddyfile'))
    writeFileSync(join(folder, 'Caddyfile'), read('Caddyfile').replace('health_uri', 'healthuri'))
    const broken = ['validate', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile']
    await expect(run(caddy, broken, { env })).rejects.toThrow('healthuri')
  })

  it('haproxy accepts its file', { timeout: INSTALLING }, async () => {
    const haproxy = await ensureCommand(['haproxy'], 'haproxy')
    const file = join(folder, 'haproxy.cfg')
    const check = () => run(haproxy, ['-c', '-f', file])
    // Without the certificate of a real installation.
    const plain = read('haproxy.cfg').replace(/bind :443 .*/, 'bind 127.0.0.1:1')
    writeFileSync(file, plain)
    await check()
    writeFileSync(file, plain.replace('option httpchk', 'option htpchk'))
    await expect(check()).rejects.toThrow('htpchk')
  })

  it('nginx accepts its files', { timeout: INSTALLING }, async () => {
    const nginx = await ensureCommand(['nginx'], 'nginx-light')
    await run('openssl', [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-subj',
      '/CN=sluice.example.com',
      '-days',
      '2',
      '-keyout',
      join(folder, 'privkey.pem'),
      '-out',
      join(folder, 'fullchain.pem'),
    ])
    const here = (text: string) =>
      text.replaceAll('/etc/letsencrypt/live/sluice.example.com', folder).replaceAll('/etc/nginx', folder)
    writeFileSync(join(folder, 'sluice-proxy.conf'), read('sluice-proxy.conf'))
    writeFileSync(join(folder, 'sluice.conf'), here(read('nginx.conf')))
    writeFileSync(
      join(folder, 'main.conf'),
      `pid ${folder}/nginx.pid; events {} http { include ${folder}/sluice.conf; }`,
    )
    const check = () => run(nginx, ['-t', '-q', '-p', folder, '-e', 'stderr', '-c', join(folder, 'main.conf')])
    await check()
    writeFileSync(join(folder, 'sluice.conf'), here(read('nginx.conf')).replace('proxy_pass', 'proxypass'))
    await expect(check()).rejects.toThrow('proxypass')
  })
})

describe('Prometheus and Grafana', () => {
  const known = new Set(
    createMetrics()
      .registry.getMetricsAsArray()
      .map(({ name }) => name),
  )
  const OWN = new Set(['up'])
  /**
   * A metric is a name before a brace, a bracket, an operator or the end of an expression. Functions and labels do not
   * count.
   */
  const metricsIn = (expression: string) => {
    const bare = expression
      .replaceAll(/"[^"]*"/g, '""')
      .replaceAll(/\b(?:by|on|without) \([^)]*\)/g, '')
      .replaceAll(/\{[^}]*\}/g, '')
      .replaceAll(/\[[^\]]*\]/g, '')
    return [...bare.matchAll(/[a-z_]{2,}\b(?!\s*\()/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, ''))
  }
  const alerts = parse(read('sluice-alerts.yml')) as {
    groups: { rules: { alert: string; expr: string; labels: { severity: string } }[] }[]
  }
  const rules = alerts.groups.flatMap(({ rules }) => rules)
  const board = JSON.parse(read('grafana-dashboard.json')) as {
    panels: { title: string; type: string; targets?: { expr: string }[] }[]
  }
  const queries = board.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

  it('takes its files', { timeout: INSTALLING }, async () => {
    const promtool = await ensureCommand(['promtool'], 'prometheus')
    expect((await run(promtool, ['check', 'rules', join(FOLDER, 'sluice-alerts.yml')])).stdout).toContain('SUCCESS')
    await run(promtool, ['check', 'config', '--syntax-only', join(FOLDER, 'prometheus.yml')])
    for (const expr of queries) {
      const rule = {
        groups: [{ name: 'g', rules: [{ record: 'r', expr: expr.replaceAll('$__rate_interval', '5m') }] }],
      }
      writeFileSync(join(folder, 'query.yml'), JSON.stringify(rule))
      await run(promtool, ['check', 'rules', join(folder, 'query.yml')])
    }
  })

  it('asks for metrics that exist', () => {
    expect(rules.length).toBeGreaterThan(10)
    expect(queries.length).toBeGreaterThan(20)
    const unknown = [...rules.map(({ expr }) => expr), ...queries]
      .flatMap(metricsIn)
      .filter((name) => !known.has(name) && !OWN.has(name))
    expect(unknown).toEqual([])
  })

  it('would be caught asking for one that does not exist', () => {
    expect(metricsIn('sum by (le) (rate(no_such_bucket{route="/a"}[5m])) > 1')).toEqual(['no_such'])
  })

  it('shows every metric on the dashboard', () => {
    const shown = new Set(queries.flatMap(metricsIn))
    expect([...known].filter((name) => !shown.has(name))).toEqual([])
  })

  it('asks for a route as the front door counts it', () => {
    const routes = [...rules.map(({ expr }) => expr), ...queries].flatMap((expr) =>
      [...expr.matchAll(/route="([^"]+)"/g)].map(([, route]) => route),
    )
    expect(new Set(routes)).toEqual(new Set(['/api/sdk/track']))
  })
})
