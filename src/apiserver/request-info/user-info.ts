/** The user who sent a request (`k8s.io/apiserver/pkg/authentication/user`). */

/** Name, groups and extra attributes that an authenticator found for a request. */
export interface UserInfo {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}
