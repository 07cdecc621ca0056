/** The APIs of this server merged with those of other servers, for discovery. */
import type { ApisState } from '../../registry/served-apis.ts'
import { mergedGroups, type RemoteVersion } from './merged-groups.ts'

/** `state` is a new object after each change of either. */
export function mergedApis(
  apis: { readonly state: ApisState },
  remote: () => readonly RemoteVersion[],
): { readonly state: ApisState } {
  let merged:
    | { readonly of: ApisState; readonly versions: readonly RemoteVersion[]; readonly state: ApisState }
    | undefined
  return {
    get state() {
      const of = apis.state
      const versions = remote()
      if (merged?.of !== of || merged.versions !== versions)
        merged = { of, versions, state: versions.length ? withVersions(of, versions) : of }
      return merged.state
    },
  }
}

function withVersions(state: ApisState, versions: readonly RemoteVersion[]): ApisState {
  const groups = mergedGroups(state.groups, versions)
  const byName = new Map(groups.map((group) => [group.group, group]))
  return { ...state, groups, group: (name) => byName.get(name) }
}
