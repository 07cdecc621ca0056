/**
 * Reads the exit codes of processes that have lost their parents, if this process is the first one of its PID
 * namespace, as in a container without an init. Otherwise they remain as zombies, which hold up the end of containers.
 */
import { readdirSync } from 'node:fs'
import { loadLibc } from './libc.ts'
import { statOf } from './processes.ts'

/** Node reads the exit codes of its own children sooner. In ms. */
const intervalMs = 500

/** Returns a function that stops it. Does nothing if this is not the first process. */
export function reapOrphans(): () => void {
  if (process.pid !== 1) return () => {}
  const libc = loadLibc()
  let before: ReadonlySet<string> = new Set()
  const timer = setInterval(() => {
    const zombies = zombieChildren()
    const old = zombies.filter(({ key }) => before.has(key))
    before = new Set(zombies.map(({ key }) => key))
    for (const { pid } of old) libc.reap(pid)
  }, intervalMs)
  timer.unref()
  return () => clearInterval(timer)
}

const zombieChildren = (): { readonly pid: number; readonly key: string }[] =>
  readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined
    if (!stat?.isZombie || stat.parent !== process.pid) return []
    return [{ pid: stat.pid, key: `${stat.pid} ${stat.startTicks}` }]
  })
