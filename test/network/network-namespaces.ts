/** Network namespaces of tests, as files. Needs root. */
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'

/** Creates a namespace that exists while its file is mounted. */
export function createNetwork(file: string): void {
  writeFileSync(file, '')
  execFileSync('unshare', [`--net=${file}`, 'true'])
}

export function removeNetwork(file: string): void {
  execFileSync('umount', ['--lazy', file])
  rmSync(file)
}
