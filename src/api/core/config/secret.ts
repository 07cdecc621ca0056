/** Secrets: confidential data, of types that say which keys have to be there. */
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
import { base64Length, frozen, maxDataBytes } from './data-rules.ts'

type Secret = Model<V1Secret>

/** `stringData` goes into `data`, wins over it, and is never read back. */
function mergeStrings(secret: Secret): void {
  if (!secret.stringData) return
  secret.data ??= {}
  const data = secret.data
  for (const key in secret.stringData)
    setOwn(data, key, Buffer.from(secret.stringData[key] as string).toString('base64'))
  delete secret.stringData
}

const accountAnnotation = 'kubernetes.io/service-account.name'

/** What a secret of a type has to hold. */
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

/** A key whose value has to be a JSON object. The value is not repeated in the message. */
function jsonObject(data: Record<string, string>, key: string): readonly FieldError[] {
  const value = data[key]
  if (value === undefined) return [required(`data[${key}]`)]
  const text = Buffer.from(value, 'base64').toString()
  const refuse = (why: string): readonly FieldError[] => [
    invalidValue(`data[${key}]`, '<secret contents redacted>', why),
  ]
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && !Array.isArray(parsed)) return valid
    const kind = Array.isArray(parsed) ? 'array' : typeof parsed === 'boolean' ? 'bool' : typeof parsed
    return refuse(`json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`)
  } catch (error) {
    return refuse(goJsonError(text, error as Error))
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
              ...frozen(secret, old, ['data']),
            ]
          : valid,
      ),
  },
  selectableFields: { type: ({ type }) => type },
  columns: [
    name,
    column('Type', ({ type }) => type ?? '', { description: 'What kind of data it holds.' }),
    column('Data', ({ data = {} }) => Object.keys(data).length, { description: 'How many keys it holds.' }),
    age,
  ],
})
