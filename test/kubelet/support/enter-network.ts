/** Moves the sockets of this process into the network namespace of another one. Needs root. */
import { closeSync, openSync } from 'node:fs'
import koffi from 'koffi'

const newNetwork = 0x4000_0000

/** Later sockets of the main thread are in the namespace; those that are open remain in the old one. */
export function enterNetwork(pid: number): void {
  const setns = koffi.load('libc.so.6').func('int setns(int, int)')
  const file = openSync(`/proc/${pid}/ns/net`, 'r')
  const result: number = setns(file, newNetwork)
  closeSync(file)
  if (result !== 0) throw new Error(`cannot enter the network of the process ${pid}`)
}
