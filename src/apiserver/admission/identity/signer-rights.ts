/** Permissions on signers: by the signer's name, or for all signers of its domain (`example.com/*`). */
import { after } from '../../../lib/flow/after.ts'
import type { AccessAttributes, Authorizer } from '../../authorization/authorizer.ts'
import type { UserInfo } from '../../request-info/user-info.ts'

export type SignerVerb = 'approve' | 'sign' | 'attest'

/** Returns true if the user has the permission for the signer. No opinion counts as denied. */
export function mayWithSigner(
  authorizer: Authorizer,
  user: UserInfo,
  verb: SignerVerb,
  signer: string,
): boolean | Promise<boolean> {
  const mayBy = (name: string): boolean | Promise<boolean> =>
    after(authorizer.authorize(signerAccess(user, verb, name)), ({ verdict }) => verdict === 'allow')
  return after(mayBy(signer), (may) => may || mayBy(`${signer.split('/', 1)[0]}/*`))
}

const signerAccess = (user: UserInfo, verb: SignerVerb, name: string): AccessAttributes => ({
  user,
  info: {
    isResourceRequest: true,
    path: '',
    verb,
    prefix: 'apis',
    group: 'certificates.k8s.io',
    version: '*',
    namespace: '',
    resource: 'signers',
    subresource: '',
    name,
    rest: [],
  },
})
