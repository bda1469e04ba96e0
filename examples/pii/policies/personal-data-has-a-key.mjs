// `when` and `require` cannot relate two columns of a table to each other, so this policy is a module.
// It gets its own copy of the schemas and returns findings.

const isPersonal = (name) => /email|phone/iu.test(name);

/** A table with personal data needs a primary key. Without one, you cannot delete the rows of one person. */
export default ({ schemas }) =>
  Object.entries(schemas).flatMap(([schema, { tables }]) =>
    Object.entries(tables)
      .filter(([, { enabled, columns = {} }]) => {
        const all = Object.entries(columns);
        return enabled && all.some(([name]) => isPersonal(name)) && !all.some(([, { isPrimaryKey }]) => isPrimaryKey);
      })
      .map(([table]) => ({
        path: `/schemas/${schema}/tables/${table}`,
        message: `${schema}.${table} contains personal data and has no primary key`,
      })),
  );
