/** Secrets: confidential data. Their type defines the required keys. */
import type { V1Secret } from '@kubernetes/client-node'
import { setOwn } from '../../../lib/own.ts'
import { goJsonError } from '../../../machinery/decode/go-json.ts'
import type { Model } from '../../../machinery/object.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  required,
  tooLong,
} from '../../../machinery/validation/field-error.ts'
import { all, follows, immutable, valid } from '../../../machinery/validation/field-rules.ts'
import { configMapKey } from '../../../machinery/validation/names.ts'
import { age, column, name, resource } from '../../resource.ts'
import { base64Length, maxDataBytes, validateImmutableFields } from './data-rules.ts'

type Secret = Model<V1Secret>

/** Merges `stringData` into `data`, which it overrides. It is write-only. */
function mergeStrings(secret: Secret): void {
  if (!secret.stringData) return
  secret.data ??= {}
  const data = secret.data
  for (const key in secret.stringData)
    setOwn(data, key, Buffer.from(secret.stringData[key] as string).toString('base64'))
  delete secret.stringData
}

const accountAnnotation = 'kubernetes.io/service-account.name'

/** Validates the keys that the secret's type requires. */
function typeRules({ type, data = {}, metadata }: Secret): readonly FieldError[] {
  const needs = (...keys: string[]): readonly FieldError[] =>
    keys.filter((key) => data[key] === undefined).map((key) => required(`data[${key}]`))
  switch (type) {
    case 'kubernetes.io/service-account-token':
      return metadata.annotations?.[accountAnnotation]
        ? valid
        : [required(`metadata.annotations[${accountAnnotation}]`)]
    case 'kubernetes.io/basic-auth':
      return data.username === undefined && data.password === undefined ? needs('username', 'password') : valid
    case 'kubernetes.io/ssh-auth':
      return data['ssh-privatekey'] ? valid : [required('data[ssh-privatekey]')]
    case 'kubernetes.io/tls':
      return needs('tls.crt', 'tls.key')
    case 'kubernetes.io/dockercfg':
      return jsonObject(data, '.dockercfg')
    case 'kubernetes.io/dockerconfigjson':
      return jsonObject(data, '.dockerconfigjson')
    default:
      return valid
  }
}

/** Validates a key whose value must be a JSON object. The message omits the value. */
function jsonObject(data: Record<string, string>, key: string): readonly FieldError[] {
  const value = data[key]
  if (value === undefined) return [required(`data[${key}]`)]
  const text = Buffer.from(value, 'base64').toString()
  const secretError = (why: string): readonly FieldError[] => [
    invalidValue(`data[${key}]`, '<secret contents redacted>', why),
  ]
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && !Array.isArray(parsed)) return valid
    const kind = Array.isArray(parsed) ? 'array' : typeof parsed === 'boolean' ? 'bool' : typeof parsed
    return secretError(`json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`)
  } catch (error) {
    return secretError(goJsonError(text, error as Error))
  }
}

function rules(secret: Secret): readonly FieldError[] {
  const { data = {} } = secret
  const errors: FieldError[] = []
  let size = 0
  for (const key in data) {
    errors.push(...follows(key, `data[${key}]`, configMapKey))
    size += base64Length(data[key] as string)
  }
  if (size > maxDataBytes) errors.push(tooLong('data', maxDataBytes))
  return all(errors, typeRules(secret))
}

export const secrets = resource<Secret>({
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  scope: 'Namespaced',
  defaults: [
    (secret) => {
      secret.type ||= 'Opaque'
      mergeStrings(secret)
    },
  ],
  validate: {
    object: rules,
    update: (secret, old) =>
      all(
        immutable(secret.type, 'type', old.type),
        old.immutable
          ? [
              ...(secret.immutable
                ? valid
                : [forbiddenField('immutable', 'field is immutable when `immutable` is set')]),
              ...validateImmutableFields(secret, old, ['data']),
            ]
          : valid,
      ),
  },
  selectableFields: { type: ({ type }) => type },
  columns: [
    name,
    column('Type', ({ type }) => type ?? '', { description: 'The type of the secret.' }),
    column('Data', ({ data = {} }) => Object.keys(data).length, { description: 'The number of keys.' }),
    age,
  ],
})
