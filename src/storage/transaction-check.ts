/** The checks of a transaction that do not depend on the data. */
import { RequestTooLargeError, type Transaction } from './store.ts'

/** Kubernetes' longest keys are below 900 bytes. */
export const maxKeyBytes = 1800

/** Maximum size of the keys and values of one transaction: etcd's default for `--max-request-bytes`. */
export const maxTransactionBytes = 1.5 * 1024 * 1024

/**
 * Throws RequestTooLargeError for too many bytes; RangeError for invalid keys (empty, too long, with a NUL or half a
 * surrogate pair) and for duplicate keys.
 */
export function checkTransaction({ conditions, operations }: Transaction): void {
  for (const { key } of conditions) checkKey(key)
  let bytes = 0
  for (const operation of operations) {
    checkKey(operation.key)
    bytes += operation.key.length + (operation.value?.length ?? 0)
  }
  if (bytes > maxTransactionBytes) throw new RequestTooLargeError()
  if (operations.length < 2) return
  const keys = new Set<string>()
  for (const { key } of operations) {
    if (keys.has(key)) throw new RangeError(`key ${JSON.stringify(key)} stands in two operations of one transaction`)
    keys.add(key)
  }
}

function checkKey(key: string): void {
  if (key.length === 0) throw new RangeError('a key may not be empty')
  if (key.length * 3 > maxKeyBytes && Buffer.byteLength(key) > maxKeyBytes)
    throw new RangeError(`a key may have at most ${maxKeyBytes} bytes: ${key.slice(0, 80)}…`)
  if (key.includes('\0') || !key.isWellFormed())
    throw new RangeError(`a key may not contain NUL or half a surrogate pair: ${JSON.stringify(key)}`)
}
