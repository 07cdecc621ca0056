/** The user namespace of this process. */
import { readFileSync } from 'node:fs'

/** True if the users of this process are not those of the machine: its root has no rights outside. */
export const isInUserNamespace = (uidMap = readFileSync('/proc/self/uid_map', 'utf8')): boolean =>
  !/^\s*0\s+0\s+4294967295\s*$/.test(uidMap)
