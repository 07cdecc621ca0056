/** The node's private key, in a file that outlives flannel, so that other nodes know the node after a restart. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from '../../../../lib/explained-error.ts'
import { keySize, parseKey, privateKeyFrom } from '../../../netlink/wireguard/keys.ts'

/** Upstream's; the variable `WIREGUARD_KEY_FILE` names another one. */
export const defaultKeyFile = '/run/flannel/wgkey'

/**
 * Returns the key of the file; creates one if the file is missing.
 * @throws an Error with a sentence if the file has no key.
 */
export function privateKeyOf(file: string, random: (size: number) => Uint8Array): Buffer {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    const key = privateKeyFrom(random(keySize))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, key.toString('base64'), { mode: 0o400, flag: 'wx' })
    return key
  }
  const key = parseKey(text)
  if (key) return key
  throw new Error(`could not parse private key from file ${file}: remove the file, and a new key is created`)
}
