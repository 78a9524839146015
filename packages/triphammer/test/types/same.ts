type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Compiles if `A` and `B` are the same type: `same<typeof x, string>(true)`. */
export const same = <A, B>(_equal: Equal<A, B>): void => {}
