/** The facts of an answered request, without its bodies. */

export interface RequestFacts {
  readonly verb: string
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  /** Of the object in the path or, for a create, in the body. */
  readonly name: string
  /** Empty if the credentials were rejected. The impersonated user, if any. */
  readonly user: string
  readonly userAgent: string
  readonly code: number
  readonly contentType?: string
}
