/** The user namespace of this process. */
import { readFileSync } from 'node:fs'

const ownMap = (): string => readFileSync('/proc/self/uid_map', 'utf8')

/** True if the users of this process are not those of the machine: its root has no rights outside. */
export const isInUserNamespace = (uidMap = ownMap()): boolean => !/^\s*0\s+0\s+4294967295\s*$/.test(uidMap)

/** True if there are users beside root, and groups. */
export const hasOtherUsers = (uidMap = ownMap()): boolean => !/^\s*0\s+\d+\s+1\s*$/.test(uidMap)
