/** Tests the cutting proxy: which texts it finds, and what it reports when it finds none. */
import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type CuttingProxy, openCuttingProxy } from './cutting-proxy.ts'

const heard: string[] = []
const store = createServer((socket) => {
  socket.on('error', () => undefined)
  socket.on('data', (bytes) => {
    heard.push(bytes.toString())
    socket.write('well')
  })
})
let proxy: CuttingProxy
let client: Socket

beforeAll(async () => {
  store.listen(0, '127.0.0.1')
  await once(store, 'listening')
})
afterAll(() => void store.close())
beforeEach(async () => {
  heard.length = 0
  proxy = await openCuttingProxy(`tcp://127.0.0.1:${(store.address() as AddressInfo).port}`)
  client = connect(Number(new URL(proxy.url).port), '127.0.0.1')
  client.on('error', () => undefined)
  client.setNoDelay(true)
  await once(client, 'connect')
})
afterEach(async () => {
  client.destroy()
  await proxy.close()
})

it('finds a text that comes in two pieces, and keeps the command back', async () => {
  const cut = proxy.cutNext('command', 'command')
  client.write('a comm')
  await once(client, 'data')
  client.write('and b')
  await cut
  await once(client, 'close')
  expect(heard).toEqual(['a comm'])
})

it('passes the command on and keeps the reply back', async () => {
  const cut = proxy.cutNext('command', 'reply')
  let hasReply = false as boolean
  client.on('data', () => (hasReply = true))
  client.write('a command')
  await cut
  await once(client, 'close')
  expect([heard, hasReply]).toEqual([['a command'], false])
})

it('does not find a text that came before it was requested', async () => {
  client.write('a command')
  await once(client, 'data')
  const cut = proxy.cutNext('command', 'command', 100)
  client.write(' more')
  await expect(cut).rejects.toThrow('nothing was cut: command')
  await sleep(10)
  expect(heard.join('')).toBe('a command more')
})
