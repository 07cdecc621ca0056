/** Parameters of the kernel that belong to a network namespace, below `/proc/sys`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface KernelSettings {
  /** Undefined if the kernel has no such parameter. */
  read(name: string): string | undefined
  write(name: string, value: string): void
}

/** @example kernelSettings.read('net/ipv4/conf/all/route_localnet') // '0' */
export const kernelSettings: KernelSettings = {
  read(name) {
    try {
      return readFileSync(join('/proc/sys', name), 'utf8').trim()
    } catch {
      return undefined
    }
  },
  write: (name, value) => writeFileSync(join('/proc/sys', name), value),
}
