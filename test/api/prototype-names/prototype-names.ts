/** Property names of Object.prototype and similar ones, and requests with them. */
import assert from 'node:assert/strict'
import { type Answer, type Client, json } from '../../support/api-client.ts'

export const names = [...Object.getOwnPropertyNames(Object.prototype), 'prototype', 'length', 'name', 'then', 'toJSON']
/** Names that are valid label keys: they begin and end with a letter or digit. */
export const labelKeys = names.filter((name) => !name.startsWith('_'))
/** Names that are valid object names: lower case. */
export const objectNames = labelKeys.filter((name) => name === name.toLowerCase())

export const secretsPath = '/api/v1/namespaces/default/secrets'
export const deploymentsPath = '/apis/apps/v1/namespaces/default/deployments'

const types = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const

/** Returns a map with all the keys as JSON text, in which `__proto__` is a key. */
export const mapOf = (keys: readonly string[], value: unknown): string =>
  `{${keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`
/** Returns the own members sorted by name. */
export const entriesOf = (map: object | undefined): [string, unknown][] =>
  Object.entries(map ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
export const entries = (keys: readonly string[], value: unknown): [string, unknown][] =>
  [...keys].sort().map((key) => [key, value])

export interface Stored {
  readonly metadata: {
    readonly labels?: Record<string, string>
    readonly annotations?: Record<string, string>
    readonly managedFields: readonly {
      readonly manager: string
      readonly fieldsV1: Record<string, Record<string, object>>
    }[]
  }
  readonly data?: Record<string, string>
}

export const ok = (answer: Answer, status = 200): Stored => {
  assert.equal(answer.status, status, answer.bytes.toString().slice(0, 600))
  return json<Stored>(answer)
}

export const patch = (client: Client, type: keyof typeof types, path: string, body: string, query = '') =>
  client.request('PATCH', `${path}${query}`, { body, headers: { 'content-type': types[type] } })

export const manifest = (kind: string, metadata: string, rest: string): string =>
  `{"apiVersion":"v1","kind":"${kind}","metadata":{${metadata}},${rest}}`
