import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { parseStat, readCpu, readMemory } from './process-tree.ts'

test('a process may have any name', () => {
  const fields = '7 7 7 0 -1 0 0 0 0 0 150 50 3 4 20 0 1 0'
  expect(parseStat(`42 (a ) R 1 b) S 9 ${fields.slice(2)}`)).toEqual([{ parent: 9, cpuUs: 2_070_000 }])
  expect(parseStat('')).toEqual([])
})

/** Starts a shell that has used some CPU time in a child that has ended, and then waits with another child. */
async function startFamily() {
  const burn = 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'
  const shell = spawn('/bin/sh', ['-c', `/bin/sh -c '${burn}'; sleep 100 & echo $!; read -r _; kill $!`])
  const [line] = (await once(createInterface(shell.stdout), 'line')) as [string]
  const end = async () => {
    shell.stdin.end('\n')
    await once(shell, 'exit')
  }
  return { parent: shell.pid ?? 0, child: Number(line), end }
}

test('the time of a child that has ended counts, and a named child counts by itself', async () => {
  const { parent, child, end } = await startFamily()
  try {
    const { family } = readCpu({ family: parent })
    expect(family).toBeGreaterThan(0)
    const apart = readCpu({ parent, child })
    expect(apart.parent + apart.child).toBe(family)
    expect(apart.parent).toBeGreaterThan(apart.child)
    const memory = readMemory({ family: parent })
    expect(memory.family).toBeGreaterThan(readMemory({ child }).child)
  } finally {
    await end()
  }
})

test('a process that is gone is named in the error', async () => {
  const { parent, end } = await startFamily()
  await end()
  expect(() => readCpu({ workers: parent })).toThrow(/The process of workers/)
})
