import { readFileSync } from 'node:fs'

/** True if this machine's kernel has AppArmor enabled. */
export function hasAppArmor(): boolean {
  try {
    return readFileSync('/sys/module/apparmor/parameters/enabled', 'utf8').startsWith('Y')
  } catch {
    return false
  }
}
