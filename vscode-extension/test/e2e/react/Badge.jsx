import PropTypes from "prop-types";

export function Badge({ count, label = "open" }) {
  const isMany = count > 99;
  return (
    <span className={`badge ${isMany ? "many" : ""}`} title={`${count} ${label}`}>
      {isMany ? "99+" : count} {label}
    </span>
  );
}

Badge.propTypes = {
  count: PropTypes.number.isRequired,
  label: PropTypes.string,
};
