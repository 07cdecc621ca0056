/**
 * Expands `$(NAME)` in commands, arguments and values of variables. `$$` is a dollar sign, so that `$$(NAME)` is not
 * expanded; a reference to an unknown variable stays as it is.
 */
export function expand(text: string, variables: Pick<ReadonlyMap<string, string>, 'get'>): string {
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (reference, name: string | undefined) =>
    name === undefined ? '$' : (variables.get(name) ?? reference),
  )
}
