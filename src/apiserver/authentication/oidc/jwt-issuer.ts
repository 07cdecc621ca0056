/** A trusted token issuer and the mapping of its claims: `jwt[]` of an AuthenticationConfiguration (KEP-3331). */

/** A claim with a prefix, or an expression. */
export interface ClaimOrExpression {
  readonly claim?: string
  readonly prefix?: string
  readonly expression?: string
}

export interface ClaimValidationRule {
  readonly claim?: string
  readonly requiredValue?: string
  readonly expression?: string
  readonly message?: string
}

export interface UserValidationRule {
  readonly expression?: string
  readonly message?: string
}

export interface JwtIssuer {
  readonly issuer?: {
    readonly url?: string
    /** The URL of the discovery document. Default: below the issuer. */
    readonly discoveryURL?: string
    /** PEM. Default: the system's CAs. */
    readonly certificateAuthority?: string
    readonly audiences?: readonly string[]
    readonly audienceMatchPolicy?: string
    readonly egressSelectorType?: string
  }
  readonly claimValidationRules?: readonly ClaimValidationRule[]
  readonly claimMappings?: {
    readonly username?: ClaimOrExpression
    readonly groups?: ClaimOrExpression
    readonly uid?: { readonly claim?: string; readonly expression?: string }
    readonly extra?: readonly { readonly key?: string; readonly valueExpression?: string }[]
  }
  readonly userValidationRules?: readonly UserValidationRule[]
}
