/**
 * The kinds of the Gateway API (gateway.networking.k8s.io/v1), with the fields that the proxy reads. Their definitions
 * are custom resources, which users install.
 */
import { resource } from '../../../../client/resource.ts'
import type { KubeObject } from '../../../../machinery/object.ts'
import type { LabelSelector } from '../../../../machinery/selectors/label-selector.ts'

export const gatewayGroup = 'gateway.networking.k8s.io'

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly observedGeneration?: number
  readonly lastTransitionTime?: string
}

export interface GatewayClass extends KubeObject {
  readonly spec: { readonly controllerName: string }
  readonly status?: { readonly conditions?: readonly Condition[] }
}

export interface Gateway extends KubeObject {
  readonly spec: {
    readonly gatewayClassName: string
    readonly listeners?: readonly Listener[]
    readonly addresses?: readonly GatewayAddress[]
  }
  readonly status?: GatewayStatus
}

export interface GatewayAddress {
  readonly type?: string
  readonly value?: string
}

export interface Listener {
  readonly name: string
  readonly hostname?: string
  readonly port: number
  readonly protocol: string
  readonly tls?: { readonly mode?: string; readonly certificateRefs?: readonly Reference[] }
  readonly allowedRoutes?: {
    readonly namespaces?: { readonly from?: string; readonly selector?: LabelSelector }
    readonly kinds?: readonly RouteKind[]
  }
}

export interface RouteKind {
  readonly group?: string
  readonly kind: string
}

/** A reference to a Secret, a Service or another object. */
export interface Reference {
  readonly group?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name: string
}

export interface GatewayStatus {
  readonly addresses?: readonly GatewayAddress[]
  readonly conditions?: readonly Condition[]
  readonly listeners?: readonly ListenerStatus[]
}

export interface ListenerStatus {
  readonly name: string
  readonly supportedKinds: readonly RouteKind[]
  readonly attachedRoutes: number
  readonly conditions: readonly Condition[]
}

export interface ParentReference extends Reference {
  readonly sectionName?: string
  readonly port?: number
}

/** The common part of routes. */
export interface AnyRoute extends KubeObject {
  readonly spec: { readonly parentRefs?: readonly ParentReference[]; readonly hostnames?: readonly string[] }
  readonly status?: { readonly parents?: readonly ParentStatus[] }
}

export interface ParentStatus {
  readonly parentRef: ParentReference
  readonly controllerName: string
  readonly conditions: readonly Condition[]
}

export interface HttpRoute extends AnyRoute {
  readonly spec: AnyRoute['spec'] & { readonly rules?: readonly HttpRule[] }
}

export interface HttpRule {
  readonly matches?: readonly HttpMatch[]
  readonly filters?: readonly Filter[]
  readonly backendRefs?: readonly RouteBackend[]
  readonly timeouts?: { readonly request?: string; readonly backendRequest?: string }
}

export interface HttpMatch {
  readonly path?: { readonly type?: string; readonly value?: string }
  readonly headers?: readonly NamedMatch[]
  readonly queryParams?: readonly NamedMatch[]
  readonly method?: string
}

export interface NamedMatch {
  readonly type?: string
  readonly name: string
  readonly value: string
}

export interface GrpcRoute extends AnyRoute {
  readonly spec: AnyRoute['spec'] & { readonly rules?: readonly GrpcRule[] }
}

export interface GrpcRule {
  readonly matches?: readonly {
    readonly method?: { readonly type?: string; readonly service?: string; readonly method?: string }
    readonly headers?: readonly NamedMatch[]
  }[]
  readonly filters?: readonly Filter[]
  readonly backendRefs?: readonly RouteBackend[]
}

export interface RouteBackend extends Reference {
  readonly port?: number
  readonly weight?: number
  readonly filters?: readonly Filter[]
}

export interface Filter {
  readonly type: string
  readonly requestHeaderModifier?: HeaderModifier
  readonly responseHeaderModifier?: HeaderModifier
  readonly requestRedirect?: {
    readonly scheme?: string
    readonly hostname?: string
    readonly port?: number
    readonly path?: PathModifier
    readonly statusCode?: number
  }
  readonly urlRewrite?: { readonly hostname?: string; readonly path?: PathModifier }
  readonly requestMirror?: {
    readonly backendRef: RouteBackend
    readonly percent?: number
    readonly fraction?: { readonly numerator: number; readonly denominator?: number }
  }
}

export interface PathModifier {
  readonly type: string
  readonly replaceFullPath?: string
  readonly replacePrefixMatch?: string
}

interface HeaderValue {
  readonly name: string
  readonly value: string
}

export interface HeaderModifier {
  readonly set?: readonly HeaderValue[]
  readonly add?: readonly HeaderValue[]
  readonly remove?: readonly string[]
}

export interface ReferenceGrant extends KubeObject {
  readonly spec: {
    readonly from?: readonly { readonly group: string; readonly kind: string; readonly namespace: string }[]
    readonly to?: readonly { readonly group: string; readonly kind: string; readonly name?: string }[]
  }
}

export const gatewayClasses = resource<GatewayClass>(`${gatewayGroup}/v1`, 'GatewayClass', 'gatewayclasses', false)
export const gateways = resource<Gateway>(`${gatewayGroup}/v1`, 'Gateway', 'gateways')
export const httpRoutes = resource<HttpRoute>(`${gatewayGroup}/v1`, 'HTTPRoute', 'httproutes')
export const grpcRoutes = resource<GrpcRoute>(`${gatewayGroup}/v1`, 'GRPCRoute', 'grpcroutes')
/** The version depends on the installed definitions; v1 came later. */
export const referenceGrants = resource<ReferenceGrant>(`${gatewayGroup}/v1beta1`, 'ReferenceGrant', 'referencegrants')
