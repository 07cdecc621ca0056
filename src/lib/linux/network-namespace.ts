/**
 * Network namespaces as files. Namespaces belong to threads, and Node's thread pool keeps its own: only synchronous
 * calls see the namespace that `inNetwork` enters. A socket stays in the namespace in which it was made.
 */
import { closeSync, openSync } from 'node:fs'
import { newNetwork, type SystemCalls } from './system-calls.ts'

const ownNetwork = '/proc/thread-self/ns/net'

/**
 * Runs a synchronous function in the network namespace of a file, for example `/run/netns/pod`.
 * @throws what the function throws, or why the namespace cannot be entered.
 */
export function inNetwork<Result>(calls: SystemCalls, path: string, run: () => Result): Result {
  const own = openSync(ownNetwork, 'r')
  const other = openNetwork(path, own)
  try {
    calls.setNamespace(other, newNetwork)
    try {
      return run()
    } finally {
      calls.setNamespace(own, newNetwork)
    }
  } finally {
    closeSync(other)
    closeSync(own)
  }
}

function openNetwork(path: string, own: number): number {
  try {
    return openSync(path, 'r')
  } catch (error) {
    closeSync(own)
    throw error
  }
}
