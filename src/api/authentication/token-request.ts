/**
 * TokenRequest: requests a token of a service account. It is posted to `serviceaccounts/NAME/token` and never stored.
 */
import type { AuthenticationV1TokenRequest } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import type { FieldError } from '../../machinery/validation/field-error.ts'
import { invalidValue } from '../../machinery/validation/field-error.ts'
import { resource } from '../resource.ts'

export type TokenRequest = Model<AuthenticationV1TokenRequest>

const defaultSeconds = 60 * 60
const minSeconds = 10 * 60
const maxSeconds = 2 ** 32

function checkExpiration({ spec }: TokenRequest): readonly FieldError[] {
  const seconds = spec?.expirationSeconds ?? defaultSeconds
  const expirationError = (why: string): FieldError[] => [invalidValue('spec.expirationSeconds', seconds, why)]
  if (seconds < minSeconds) return expirationError('may not specify a duration less than 10 minutes')
  return seconds > maxSeconds ? expirationError('may not specify a duration larger than 2^32 seconds') : []
}

export const tokenRequests = resource<TokenRequest>({
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenRequest',
  plural: 'tokenrequests',
  scope: 'Namespaced',
  verbs: ['create'],
  virtual: true,
  defaults: [{ 'spec!.expirationSeconds': defaultSeconds }],
  validate: { object: checkExpiration },
})
